/* A libm that is wrong: every function that libms may round differently is off by ULPS units in the last place, exact
 * results included. Preloaded into a Python it shows what depends on libm. (sqrt, fma, floor and their like are fixed
 * by IEEE 754, frexp and ldexp are exact: they are left alone.) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef ULPS
#define ULPS 900
#endif

static double off(double value) {
    uint64_t bits;
    if (!isfinite(value) || value == 0) return value;
    memcpy(&bits, &value, sizeof bits);
    bits += ULPS;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static float offf(float value) {
    uint32_t bits;
    if (!isfinite(value) || value == 0) return value;
    memcpy(&bits, &value, sizeof bits);
    bits += ULPS;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

#define ONE(name)                                                                \
    double name(double x) {                                                      \
        static double (*real)(double);                                           \
        if (!real) real = (double (*)(double))dlsym(RTLD_NEXT, #name);           \
        return off(real(x));                                                     \
    }                                                                            \
    float name##f(float x) {                                                     \
        static float (*real)(float);                                             \
        if (!real) real = (float (*)(float))dlsym(RTLD_NEXT, #name "f");         \
        return offf(real(x));                                                    \
    }

#define TWO(name)                                                                \
    double name(double x, double y) {                                            \
        static double (*real)(double, double);                                   \
        if (!real) real = (double (*)(double, double))dlsym(RTLD_NEXT, #name);   \
        return off(real(x, y));                                                  \
    }                                                                            \
    float name##f(float x, float y) {                                            \
        static float (*real)(float, float);                                      \
        if (!real) real = (float (*)(float, float))dlsym(RTLD_NEXT, #name "f");  \
        return offf(real(x, y));                                                 \
    }

ONE(sin) ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh) ONE(asinh) ONE(acosh) ONE(atanh)
ONE(exp) ONE(exp2) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p) ONE(cbrt)
TWO(pow) TWO(atan2) TWO(hypot)
