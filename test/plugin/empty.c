/* A shared object that is no plugin. */
int assay_test_nothing(void);

int assay_test_nothing(void)
{
    return 0;
}
