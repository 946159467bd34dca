/* Functions as MLAS approximates them, ONNX Runtime's library of kernels, on x86-64 with fused
 * multiply-add: binary32 throughout, the same bits on every machine. Orders and constants are those
 * of onnxruntime/core/mlas/lib; ONNX Runtime 1.30's results are equal, bit for bit. */
#ifndef ASSAY_SCHEMES_DERIVE_MLAS_H
#define ASSAY_SCHEMES_DERIVE_MLAS_H

float derive_mlas_exp(float x);        /* compute.cpp, TransKernelAvx512F.S */
float derive_mlas_sigmoid(float x);    /* logistic.cpp: x * P(x^2) / Q(x^2) + 1/2 */
float derive_mlas_tanh(float x);       /* tanh.cpp: x * P(x^2) / Q(x^2) */
float derive_mlas_erf(float x);        /* erf.cpp */
float derive_mlas_hard_swish(float x); /* x * clip(x * (1/6) + 1/2, 0, 1), each step rounded */
/* ONNX Runtime's Gelu (core/providers/cpu/tensor/gelu.cc), by erf or by tanh. */
float derive_mlas_gelu(float x);
float derive_mlas_gelu_tanh(float x);

#endif
