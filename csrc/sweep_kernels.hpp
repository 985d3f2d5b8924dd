// The kernels of the sweep, compiled once per instruction set in a namespace of its own: levels.hpp
// includes the list below for each of them. Everything from the standard library is included before,
// so that none of it is compiled for a newer CPU.
#if defined(SPHEREMIX_LEVEL)

#include "simd.hpp"
#include "sweep_softmax.hpp"
#include "sweep_pack.hpp"
#include "sweep_csr.hpp"
#include "sweep_dense.hpp"
#include "sweep_listed.hpp"
#include "sweep_near.hpp"
#include "sweep_columns.hpp"

#elif !defined(SPHEREMIX_SWEEP_KERNELS)
#define SPHEREMIX_SWEEP_KERNELS

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "cpu.hpp"
#include "pool.hpp"
#include "sweep_task.hpp"

namespace spheremix {

// Rows of a dense block: the grid on which sums in the precision of the data are taken.
constexpr std::int64_t dense_block = 128;

// Lanes of the dense sums: a function of their shape alone, so that the order of additions is too.
// Large sums of many components have one lane, which is shared out by components; of few components
// fewer lanes, so that memory stays a small multiple of theirs.
constexpr std::int64_t dense_lanes(std::int64_t n_components, std::int64_t n_features) {
    const std::int64_t size = std::max<std::int64_t>(1, n_components * n_features);
    const std::int64_t wanted = (std::int64_t{1} << 22) / size;
    if (wanted >= 16) return 16;
    return n_components >= 256 ? 1 : std::max<std::int64_t>(wanted, 4);
}

#define SPHEREMIX_KERNELS "sweep_kernels.hpp"
#include "levels.hpp"
#undef SPHEREMIX_KERNELS

}  // namespace spheremix

#endif
