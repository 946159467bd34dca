/* Arrays that grow. */
#include "graph/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE = 64 };

bool assay_make_room(void *array, size_t *room, size_t need, size_t size)
{
    void *data;
    if (need <= *room)
        return true;
    if (need > (SIZE_MAX / size - SPARE) / 2)
        return false;
    memcpy(&data, array, sizeof data);
    data = realloc(data, (need * 2 + SPARE) * size);
    if (!data)
        return false;
    memcpy(array, &data, sizeof data);
    *room = need * 2 + SPARE;
    return true;
}
