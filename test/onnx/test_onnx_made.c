/* Operators that become several of ours, on small numbers. The expected values are NumPy's, by the
 * loops of ONNX's specification (and by numpy.fft and numpy.linalg). */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "interp/run/evaluate.h"
#include "test/support/onnx_form.h"

#define MOST 48

typedef struct made {
    int opset;
    const char *text; /* of an input x and an output y */
    float x[MOST];
    int rank;
    int64_t dim[6];
    double y[MOST];
} made;

static const made cases[] = {
    {22,
     "in x f32 1,2,7\nLpPool x -> y kernel_shape=[3] strides=[2] pads=[1,0] dilations=[1] p=2 "
     "ceil_mode=0\nout y f32",
     {1.75, -0.5, -1.25, 1, 1.5, -1, -0.5, -1.75, 2, 2, 0.75, 0.25, 0.25, 0.5},
     3,
     {1, 2, 3},
     {1.8200275, 1.6770509, 2.0615528, 2.6575365, 2.9261749, 0.82915622}},
    {22,
     "in x f32 1,2,7\nLpPool x -> y kernel_shape=[2] strides=[3] pads=[0,1] dilations=[1] p=1 "
     "ceil_mode=1\nout y f32",
     {1.75, -0.5, -1.25, 1, 1.5, -1, -0.5, -1.75, 2, 2, 0.75, 0.25, 0.25, 0.5},
     3,
     {1, 2, 3},
     {2.25, 2.5, 0.5, 3.75, 1, 0.5}},
    {22,
     "in x f32 1,2,7\nLpPool x -> y kernel_shape=[2] strides=[2] pads=[1,1] dilations=[2] p=3 "
     "ceil_mode=1\nout y f32",
     {1.75, -0.5, -1.25, 1, 1.5, -1, -0.5, -1.75, 2, 2, 0.75, 0.25, 0.25, 0.5},
     3,
     {1, 2, 4},
     {0.5, 1.0400419, 1.2599211, 1, 2, 2.0345557, 0.75914723, 0.25}},
    {22,
     "in x f32 1,2,7\nLpPool x -> y kernel_shape=[3] strides=[2] pads=[0,0] dilations=[1] p=2 "
     "ceil_mode=1\nout y f32",
     {1.75, -0.5, -1.25, 1, 1.5, -1, -0.5, -1.75, 2, 2, 0.75, 0.25, 0.25, 0.5},
     3,
     {1, 2, 3},
     {2.2079401, 2.1937411, 1.8708287, 3.3260336, 2.1505814, 0.61237246}},
    {22,
     "in x f32 2,2,2,2\nGlobalLpPool x -> y p=3\nout y f32",
     {1, 0.25, 1.25, 0, -0.5, -1.5, 1.25, -0.75, 0.75, 1, 0.75, 1.75, 0.75, 1.75, 1, 2},
     4,
     {2, 2, 1, 1},
     {1.4372243, 1.8044131, 1.9312581, 2.4541647}},
    {22,
     "in x f32 3,4\nLpNormalization x -> y p=1\nout y f32",
     {0, -2, 0.5, 1, 0, 0, 0, 0, -1.25, 0.5, 0.25, -1.5},
     2,
     {3, 4},
     {0, -0.5714286, 0.14285715, 0.2857143, 0, 0, 0, 0, -0.35714287, 0.14285715, 0.071428575,
      -0.42857143}},
    {22,
     "in x f32 3,4\nLpNormalization x -> y axis=0\nout y f32",
     {0.75, 0.5, 0, 1.25, 1.5, -2, 0, 1.75, 1.5, -1.5, 0, -0.5},
     2,
     {3, 4},
     {0.33333334, 0.19611613, 0, 0.56613851, 0.66666669, -0.78446454, 0, 0.7925939, 0.66666669,
      -0.58834839, 0, -0.22645541}},
    {18,
     "in x f32 3,4\nconst s i64 2 = 6 1\nCenterCropPad x,s -> y\nout y f32",
     {1.5, 0.25, 1.5, 0.5, -0.25, 0.25, -1.75, -0.5, 1.5, 1.5, 0.25, -0.5},
     2,
     {6, 1},
     {0, 0.25, 0.25, 1.5, 0, 0}},
    {18,
     "in x f32 3,4\nconst s i64 1 = 7\nCenterCropPad x,s -> y axes=[-1]\nout y f32",
     {1.5, 0.25, 1.5, 0.5, -0.25, 0.25, -1.75, -0.5, 1.5, 1.5, 0.25, -0.5},
     2,
     {3, 7},
     {0,    1.5, 0.25, 1.5, 0.5, 0,   0,    0,    -0.25, 0.25, -1.75,
      -0.5, 0,   0,    0,   1.5, 1.5, 0.25, -0.5, 0,     0}},
    {20,
     "in x f32 2,2,3\nconst s i64 4 = 2 1 2 3\nAffineGrid x,s -> y align_corners=0\nout y f32",
     {0.75, 1.5, 1.75, -0.75, -0.75, 0.5, 1.25, 1.5, 1, -1.5, -1.5, -1.5},
     4,
     {2, 2, 3, 2},
     {0.5,       1.375, 1,          0.875,  1.5,         0.375, 2,         0.625,
      2.5,       0.125, 3,          -0.375, -0.58333331, 0.25,  0.25,      -0.75,
      1.0833334, -1.75, 0.91666669, -1.25,  1.75,        -2.25, 2.5833333, -3.25}},
    {20,
     "in x f32 2,2,3\nconst s i64 4 = 2 1 2 3\nAffineGrid x,s -> y align_corners=1\nout y f32",
     {0.75, 1.5, 1.75, -0.75, -0.75, 0.5, 1.25, 1.5, 1, -1.5, -1.5, -1.5},
     4,
     {2, 2, 3, 2},
     {-0.5,  2,   0.25, 1.25, 1,    0.5,  2.5,  0.5,  3.25, -0.25, 4,    -1,
      -1.75, 1.5, -0.5, 0,    0.75, -1.5, 1.25, -1.5, 2.5,  -3,    3.75, -4.5}},
    {24,
     "in x f32 2,2,4,2\nconst u f32 2,2,2,2 = -1.75 0.25 -2 -0.5 2 0.75 -1.25 0.25 1 1 0 1 0.5 0.5 "
     "-0.5 0\nconst w i64 2 = 3 1\nTensorScatter x,u,w -> y mode=circular\nout y f32",
     {-1.25, 0.75,  -0.5,  -1.25, -0.5,  -1.25, -1.75, -2,  1.5,   -2,  0.75,
      -1.5,  -1.25, 1,     -0.75, -0.75, -0.25, -0.75, 1.5, -0.75, -2,  -1,
      1.25,  2,     -1.75, 1.75,  -1,    1.75,  0.75,  1,   -0.25, 0.75},
     4,
     {2, 2, 4, 2},
     {-2,   -0.5,  -0.5,  -1.25, -0.5, -1.25, -1.75, 0.25, -1.25, 0.25, 0.75,
      -1.5, -1.25, 1,     2,     0.75, -0.25, -0.75, 1,    1,     0,    1,
      1.25, 2,     -1.75, 1.75,  0.5,  0.5,   -0.5,  0,    -0.25, 0.75}},
    {24,
     "in x f32 2,2,4,2\nconst u f32 2,2,2,2 = -1.75 0.25 -2 -0.5 2 0.75 -1.25 0.25 1 1 0 1 0.5 0.5 "
     "-0.5 0\nTensorScatter x,u -> y\nout y f32",
     {-1.25, 0.75,  -0.5,  -1.25, -0.5,  -1.25, -1.75, -2,  1.5,   -2,  0.75,
      -1.5,  -1.25, 1,     -0.75, -0.75, -0.25, -0.75, 1.5, -0.75, -2,  -1,
      1.25,  2,     -1.75, 1.75,  -1,    1.75,  0.75,  1,   -0.25, 0.75},
     4,
     {2, 2, 4, 2},
     {-1.75, 0.25,  -2,  -0.5,  -0.5,  -1.25, -1.75, -2, 2,     0.75, -1.25,
      0.25,  -1.25, 1,   -0.75, -0.75, 1,     1,     0,  1,     -2,   -1,
      1.25,  2,     0.5, 0.5,   -0.5,  0,     0.75,  1,  -0.25, 0.75}},
    {24,
     "in x f32 2,3,2\nconst u f32 2,1,2 = -0.5 0.75 1.5 0.5\nconst w i64 2 = 2 0\nTensorScatter "
     "x,u,w -> y axis=1\nout y f32",
     {0.5, 1, 1, 1, -0.5, 1, 1.75, -1.5, 1.25, -1, -0.25, 0.75},
     3,
     {2, 3, 2},
     {0.5, 1, 1, 1, -0.5, 0.75, 1.5, 0.5, 1.25, -1, -0.25, 0.75}},
    {22,
     "in x f32 4,4\nDet x -> y\nout y f32",
     {0.5, 0.75, -1, 1.75, -1.25, -1.75, 0, 0, 1.5, -0.75, 1.5, -2, -0.75, 0.75, 0, -2},
     0,
     {0},
     {5.53125}},
    {22,
     "in x f32 2,3,3\nDet x -> y\nout y f32",
     {-1.25, -2, 0, -1, 1.5, -1.75, 2, 1, 1.5, -2, -0.75, 0.75, 2, -0.75, 1.5, 2, 1, 0.25},
     1,
     {2},
     {-1, 4.125}},
    {22, "in x f32 2,1,1\nDet x -> y\nout y f32", {2, 0.75}, 1, {2}, {2, 0.75}},
    {22,
     "in x f32 6,6\nDet x -> y\nout y f32",
     {1,    1.5,   1.25, -1.25, -1.75, -1,   -2,   1.25,  0, 2,     -0.25, 0,
      1,    -0.75, -2,   2,     1.75,  -1.5, 2,    -1.75, 0, 1,     -1.5,  0.75,
      1.25, -0.5,  -1.5, -0.75, 0.25,  0,    1.25, 1.75,  2, -0.75, 2,     0.25},
     0,
     {0},
     {300.83398}},
    {22,
     "in x f32 1,1,2,2\nconst i i64 1,1,2,2 = 3 4 11 19\nMaxUnpool x,i -> y kernel_shape=[2,3] "
     "strides=[2,2]\nout y f32",
     {0.75, -1.75, 0.25, 0.75},
     4,
     {1, 1, 4, 5},
     {0, 0, 0, 0.75, -1.75, 0, 0, 0, 0, 0, 0, 0.25, 0, 0, 0, 0, 0, 0, 0, 0.75}},
    {22,
     "in x f32 1,1,2,2\nconst i i64 1,1,2,2 = 3 4 11 19\nconst s i64 4 = 1 1 5 6\nMaxUnpool x,i,s "
     "-> y kernel_shape=[2,3] strides=[2,2]\nout y f32",
     {0.75, -1.75, 0.25, 0.75},
     4,
     {1, 1, 5, 6},
     {0, 0, 0, 0.75, -1.75, 0, 0, 0,    0, 0, 0, 0, 0, 0.25, 0,
      0, 0, 0, 0,    0,     0, 0, 0.75, 0, 0, 0, 0, 0, 0,    0}},
    {22,
     "in x f32 1,4,4,3\nconst w f32 2,2,2,2 = 1.5 -1.5 2 -1 1.75 -1.5 -0.75 1.75 1.5 0.75 1.25 0 0 "
     "-0.25 1.75 0.25\nconst o f32 1,16,2,2 = 0.75 -0.25 -0.25 -1.5 0.25 2 1.75 -2 2 -1 1.5 -0.25 "
     "0 -0.75 -0.75 0.25 1.5 -2 1 2 -0.75 -1 -1.75 0 1.25 0.75 1.25 1.5 -0.5 2 0 -1 2 -0.75 -0.5 "
     "-1 -1.25 0 -0.5 1.75 -1.25 2 0.75 1 -0.25 -1.5 1.25 1.5 2 -1.75 0.5 -0.25 -0.75 -1.25 0.5 "
     "0.25 0 -0.75 0.5 -1.75 1.75 0 0.75 -1.5\nconst b f32 2 = 1.25 -2\nconst m f32 1,8,2,2 = -1.5 "
     "1.25 -1.75 0 0.25 -0.25 0.25 -1.5 2 2 -0.5 -0.75 -1.25 0.5 -1.5 0.25 0.5 0.75 1.25 -1.25 -1 "
     "-0.5 -1.5 2 -2 2 2 1.75 1.25 0.25 0.75 -1.75\nDeformConv x,w,o,b,m -> y strides=[2,1] "
     "pads=[1,0,0,1] dilations=[1,2] group=2 offset_group=2\nout y f32",
     {-1,    -0.5,  1,     -1.25, -1.25, 1.5,   1.5,  -2,   -1.5, 2,     -1.75, 0,
      -1.25, 1.5,   -1.75, 1.25,  0.5,   0.75,  0.25, 1.25, 0.25, -1,    -1,    -1.5,
      1.25,  -2,    0,     -2,    -0.25, -1.75, -2,   -0.5, 2,    2,     0.5,   0.75,
      -1.5,  -1.25, -1.5,  0.25,  -1.25, 2,     1.25, -1.5, -1.5, -0.75, -2,    -1.75},
     4,
     {1, 2, 2, 2},
     {0.96875, 1.25, 1.953125, 0.921875, -1.84375, -1.578125, -5.0527344, -5.5068359}},
    {22,
     "in x f32 1,1,3,3\nconst w f32 1,1,2,2 = 0.5 0.75 1.75 1\nconst o f32 1,8,2,2 = 1 -2 1.5 1.5 "
     "-1.25 0 -0.75 -0.5 -1 0.75 0.5 1 0.25 1.5 -1.75 0.75 -2 1.25 -0.75 -1.25 1.5 -0.75 1 -0.5 "
     "-0.5 2 -1.25 0 1.75 0.25 0.75 0.75\nDeformConv x,w,o -> y\nout y f32",
     {1.75, 1.75, 1, 2, -1, 1, 0.5, 0.25, 1.75},
     4,
     {1, 1, 2, 2},
     {0.25, 0.57421875, -0.265625, 2.28125}},
    {13,
     "in x f32 2,3,2\nconst t i64 2,2 = 0 2 1 2\nconst w f32 3 = 0.5 1 2\nSoftmaxCrossEntropyLoss "
     "x,t,w -> y ignore_index=1 reduction=none\nout y f32",
     {0.75, -0.25, 2, -0.25, 0, -1, -1.75, 1.5, 0.5, 0.5, -1.75, 0.25},
     2,
     {2, 2},
     {0.80097592, 3.3103516, 0, 3.5068579}},
    {13,
     "in x f32 2,3,2\nconst t i64 2,2 = 0 2 1 2\nconst w f32 3 = 0.5 1 "
     "2\nNegativeLogLikelihoodLoss x,t -> y ignore_index=2 reduction=sum\nout y f32",
     {0.75, -0.25, 2, -0.25, 0, -1, -1.75, 1.5, 0.5, 0.5, -1.75, 0.25},
     0,
     {0},
     {-1.25}},
    {13,
     "in x f32 2,3,2\nconst t i64 2,2 = 0 2 1 2\nconst w f32 3 = 0.5 1 2\nSoftmaxCrossEntropyLoss "
     "x,t,w -> y ignore_index=1 reduction=mean\nout y f32",
     {0.75, -0.25, 2, -0.25, 0, -1, -1.75, 1.5, 0.5, 0.5, -1.75, 0.25},
     0,
     {0},
     {1.6929301}},
    {13,
     "in x f32 2,3,2\nconst t i64 2,2 = 0 2 1 2\nconst w f32 3 = 0.5 1 "
     "2\nNegativeLogLikelihoodLoss x,t -> y ignore_index=2 reduction=mean\nout y f32",
     {0.75, -0.25, 2, -0.25, 0, -1, -1.75, 1.5, 0.5, 0.5, -1.75, 0.25},
     0,
     {0},
     {-0.625}},
    {13,
     "in x f32 2,3,2\nconst t i64 2,2 = 0 2 1 2\nconst w f32 3 = 0.5 1 "
     "2\nNegativeLogLikelihoodLoss x,t -> y\nout y f32",
     {0.75, -0.25, 2, -0.25, 0, -1, -1.75, 1.5, 0.5, 0.5, -1.75, 0.25},
     0,
     {0},
     {-0.125}},
    {20,
     "in x f32 2,5,2\nDFT x -> y\nout y f32",
     {-1.5, -1.5, 1.25, 0,   -1.5,  -1.75, 2, -0.75, 1,  -1.5,
      1.75, 2,    -0.5, 0.5, -0.75, 1,     2, -0.25, -1, 0.75},
     3,
     {2, 5, 2},
     {1.25,      -5.5,       -0.37042072, 1.8785013, -1.3330454,  -4.5346613, -4.9985142,
      2.4166272, -2.0480199, -1.7604673,  1.5,       4,           0.77217072, 2.9203897,
      2.0140297, -1.6888065, 4.6855636,   4.1297894, -0.22176418, 0.63862729}},
    {20,
     "in x f32 2,5,2\nconst n i64 - = 3\nconst a i64 - = 0\nDFT x,n,a -> y inverse=1\nout y f32",
     {-1.5, -1.5, 1.25, 0,   -1.5,  -1.75, 2, -0.75, 1,  -1.5,
      1.75, 2,    -0.5, 0.5, -0.75, 1,     2, -0.25, -1, 0.75},
     3,
     {3, 5, 2},
     {0.083333336,  0.16666667,  0.25,        0.16666667,  -0.75,      -0.25,
      1.3333334,    -0.33333334, 0,           -0.25,       -1.3690169, -0.32815185,
      0.35566244,   -0.22767091, -0.66367513, -0.96650636, 0.40550211, 0.36901695,
      0.28349364,   -0.91367513, -0.2143164,  -1.3385148,  0.64433759, 0.061004233,
      -0.086324863, -0.53349364, 0.26116455,  -0.78568363, 0.71650636, -0.33632487}},
    {20,
     "in x f32 2,6,1\nconst n i64 - = 4\nDFT x,n -> y onesided=1\nout y f32",
     {0, -0.25, 2, -1.25, -2, 0, -1.25, 0, 1.75, -1.5, -1.25, 0.5},
     3,
     {2, 3, 2},
     {0.5, 0, -2, -1, 3.5, 0, -1, 0, -3, -1.5, 2, 0}},
    {17,
     "in x f32 2,6,1\nDFT x -> y axis=1 onesided=1\nout y f32",
     {0, -0.25, 2, -1.25, -2, 0, -1.25, 0, 1.75, -1.5, -1.25, 0.5},
     3,
     {2, 4, 2},
     {-1.5, 0, 1.125, -3.2475953, -1.125, 3.680608, 1.5, 0, -1.75, 0, 0.25, -2.1650636, -3.25,
      3.0310888, 0.25, 0}},
    {17,
     "in x f32 2,10\nconst s i64 - = 3\nconst w f32 4 = 2 1.5 -0.25 -1.75\nSTFT x,s,w -> y\nout y "
     "f32",
     {0.75, -1.75, 0,     -2,   1.5, -2,   1.5,   1.5, 0.25, -0.5,
      1,    -1.5,  -0.25, -1.5, 0,   -0.5, -1.25, 0.5, 0.75, -2},
     4,
     {2, 3, 3, 2},
     {2.375,   0, 1.5,    6.125,  0.625,   0, -3.875, 0, -4.5,    -4.875, -3.125,  0,
      6.0625,  0, 3.0625, -1.375, -0.1875, 0, 2.4375, 0, 1.9375,  4.875,  1.6875,  0,
      -0.6875, 0, -3.125, 2.1875, -5.0625, 0, 1.5625, 0, -2.3125, 2.75,   -6.9375, 0}},
    {17,
     "in x f32 1,10,2\nconst s i64 - = 3\nconst n i64 - = 4\nSTFT x,s,_,n -> y onesided=0\nout y "
     "f32",
     {1, 1,    2,    -0.25, 1,     0.25,  1.5, -1.25, -1.5,  -1.5,
      0, 1.75, -0.5, 1,     -0.75, -0.75, 0,   -1.75, -1.25, -2},
     4,
     {1, 3, 4, 2},
     {5.5, -0.25, 1, 0.25, -1.5, 2.75, -1,   1.25, -0.5, 0, -1,    -2,
      3.5, 1,     4, -4,   -2.5, -3.5, 0.75, 2.25, 1.5,  2, -1.75, 3.25}},
    {12,
     "in x f32 2,2,3,4\nMaxPool x -> v,i kernel_shape=[2,2] strides=[2,1] pads=[1,0,0,1] "
     "dilations=[1,2] ceil_mode=0 storage_order=0\nCast i -> y to=1\nout y f32",
     {0.25,  0.5,   0,    0.5,  0,     -1,    1.25, 0.5,  1.25,  0.5,   -1.5, 1.75,
      -0.75, -0.25, 0.5,  0.5,  -1.5,  0.75,  2,    1,    -1.25, -0.75, -1.5, 2,
      -2,    1.5,   -0.5, -0.5, 1.25,  0.25,  -1.5, -0.5, 0.25,  1.5,   1.5,  0.5,
      1.5,   -1.75, 1,    0.75, -1.25, -0.25, 1,    0.75, 1,     -1,    0.25, 2},
     4,
     {2, 2, 2, 3},
     {0, 1, 2, 6, 11, 6, 14, 15, 14, 18, 23, 18, 26, 25, 26, 34, 33, 34, 36, 39, 38, 42, 47, 42}},
    {12,
     "in x f32 2,2,3,4\nMaxPool x -> v,i kernel_shape=[2,2] strides=[2,1] pads=[1,0,0,1] "
     "dilations=[1,2] ceil_mode=1 storage_order=1\nCast i -> y to=1\nout y f32",
     {0.25,  0.5,   0,    0.5,  0,     -1,    1.25, 0.5,  1.25,  0.5,   -1.5, 1.75,
      -0.75, -0.25, 0.5,  0.5,  -1.5,  0.75,  2,    1,    -1.25, -0.75, -1.5, 2,
      -2,    1.5,   -0.5, -0.5, 1.25,  0.25,  -1.5, -0.5, 0.25,  1.5,   1.5,  0.5,
      1.5,   -1.75, 1,    0.75, -1.25, -0.25, 1,    0.75, 1,     -1,    0.25, 2},
     4,
     {2, 2, 2, 3},
     {0, 3, 6, 7, 11, 7, 18, 21, 18, 19, 23, 19, 30, 27, 30, 32, 29, 32, 36, 45, 42, 43, 47, 43}},
    {12,
     "in x f32 1,1,2,3\nMaxPool x -> v,i kernel_shape=[2,2] pads=[1,1,1,1]\nCast i -> y to=1\nout "
     "y f32",
     {-1, -1, -1, -1, -1, -1},
     4,
     {1, 1, 3, 4},
     {0, 0, 1, 2, 0, 0, 1, 2, 3, 3, 4, 5}},
    {14,
     "in x f32 3,2,1\nconst w f32 2,1,1 = -0.25 1.5\nconst r f32 2,1,1 = -1.75 1.25\nconst n i32 2 "
     "= 3 1\nRNN x,w,r,_,n -> y hidden_size=1 direction=bidirectional\nout y f32",
     {1, 0, 1.25, -1.25, -0.75, -1.25},
     4,
     {3, 2, 2, 1},
     {-0.24491866, -0, 0.98275942, 0, 0.11558871, 0, 0.69799179, 0, -0.014779164, 0, -0.80930108,
      0}},
    {14,
     "in x f32 3,2,1\nconst w f32 1,4,1 = 0.5 -1 -1.5 0.25\nconst r f32 1,4,1 = 0.5 0 0.5 "
     "1.5\nconst n i32 2 = 3 1\nLSTM x,w,r,_,n -> _,_,y hidden_size=1\nout y f32",
     {1, 0, 1.25, -1.25, -0.75, -1.25},
     3,
     {1, 2, 1},
     {0.150723, 0}},
};

static void check(const made *m)
{
    assay_graph *g = onnx_form_import(m->opset, m->text, NULL);
    const assay_type *t = &g->value[g->output[0]].type;
    float out[MOST];
    const void *in = m->x;
    void *to = out;
    assay_error err;

    if (t->rank != m->rank)
        fail_msg("%s\nrank %d", m->text, t->rank);
    for (int d = 0; d < m->rank; d++)
        if (t->dim[d] != m->dim[d])
            fail_msg("%s\nextent %d is %lld", m->text, d, (long long)t->dim[d]);
    assert_ok(run_whole_graph(g, NULL, &in, &to, &err), &err);
    for (int64_t i = 0; i < assay_shape_count(t); i++)
        if (!(fabs((double)out[i] - m->y[i]) <= 2e-5 * fmax(1, fabs(m->y[i]))))
            fail_msg("%s\nelement %lld is %g, expected %g", m->text, (long long)i, (double)out[i],
                     m->y[i]);
    assay_graph_free(g);
}

static void as_specified(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

static void refused(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"in x f32 1,2,4\nLpPool x -> y kernel_shape=[2] p=0\nout y", "attribute 'p' is 0"},
        {"in x f32 2,4\nLpNormalization x -> y p=3\nout y", "attribute 'p' is 3"},
        {"in x f32 2,4\nGlobalLpPool x -> y\nout y", "input of rank 2"},
        {"in x f32 2,4\nconst s i64 3 = 1 2 3\nCenterCropPad x,s -> y\nout y",
         "3 extents for 2 axes"},
        {"in x f32 2,4\nconst s i64 2 = 1 -1\nCenterCropPad x,s -> y\nout y", "extent -1"},
        {"in x f32 2,2,3\nconst s i64 3 = 2 1 4\nAffineGrid x,s -> y\nout y",
         "3 sizes for matrices"},
        {"in x f32 2,3,4\nconst s i64 5 = 2 1 999999 9 9\nAffineGrid x,s -> y\nout y",
         "more than 2^20 places"},
        {"in x f32 2,3\nDet x -> y\nout y", "not square"},
        {"in x f32 7,7\nDet x -> y\nout y", "up to 6 are supported"},
        {"in x f32 1,2,3,3\nconst w f32 1,2,2,2\nconst o f32 1,7,2,2\nDeformConv x,w,o -> "
         "y\nout y",
         "two of each tap"},
        {"in x f32 2,3\nin t i64 3\nNegativeLogLikelihoodLoss x,t -> y\nout y",
         "labels of another shape"},
        {"in x f32 2\nin t i64 -\nSoftmaxCrossEntropyLoss x,t -> y\nout y", "scores of rank 1"},
        {"in x f32 2,4,3\nDFT x -> y\nout y", "a last axis of 1 or 2"},
        {"in x f32 2,4,2\nDFT x -> y inverse=1 onesided=1\nout y", "half a spectrum"},
        {"in x f32 2,4,2\nconst n i64 - = 0\nDFT x,n -> y\nout y", "a transform of 0 elements"},
        {"in x f32 2,4\nconst s i64 - = 1\nconst w f32 5\nSTFT x,s,w -> y\nout y",
         "in frames of 5"},
        {"in x f32 2,4\nconst s i64 - = 1\nSTFT x,s -> y\nout y", "frames of 0 elements"},
        {"in x f32 2,4,2\nconst u f32 2,5,2\nTensorScatter x,u -> y\nout y", "an update of rank 3"},
        {"in x f32 1,1,2\nin i i64 1,1,3\nMaxUnpool x,i -> y kernel_shape=[2]\nout y",
         "do not fit the input"},
        {"in x f32 1,1,2\nin i i64 1,1,2\nMaxUnpool x,i -> y kernel_shape=[2,2]\nout y",
         "a kernel of 2 axes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const bool unsupported = strstr(bad[i].part, "support") ||
                                 strstr(bad[i].part, "transform") ||
                                 strstr(bad[i].part, "spectrum") || strstr(bad[i].part, "2^20");
        onnx_form_refused(20, bad[i].text, unsupported ? ASSAY_ERR_UNSUPPORTED : ASSAY_ERR_INPUT,
                          bad[i].part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_specified),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("onnx_made", tests, NULL, NULL);
}
