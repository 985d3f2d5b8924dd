// Includes the file SPHEREMIX_KERNELS once per instruction set, in a namespace of its own inside the
// namespace at hand. What that file needs of the standard library is included before.

namespace baseline {
#define SPHEREMIX_LEVEL 0
#include SPHEREMIX_KERNELS
#undef SPHEREMIX_LEVEL
}  // namespace baseline

#if SPHEREMIX_X86

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace avx2 {
#define SPHEREMIX_LEVEL 1
#include SPHEREMIX_KERNELS
#undef SPHEREMIX_LEVEL
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx2,fma")
#endif
namespace avx512 {
#define SPHEREMIX_LEVEL 2
#include SPHEREMIX_KERNELS
#undef SPHEREMIX_LEVEL
}  // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#elif SPHEREMIX_NEON

namespace neon {
#define SPHEREMIX_LEVEL 3
#include SPHEREMIX_KERNELS
#undef SPHEREMIX_LEVEL
}  // namespace neon

#endif
