// All kernels of the sweep, in order. Included once per instruction set, inside its namespace.
#include "sweep_simd.hpp"
#include "sweep_softmax.hpp"
#include "sweep_pack.hpp"
#include "sweep_csr_kernels.hpp"
#include "sweep_csr_tiles.hpp"
#include "sweep_csr.hpp"
#include "sweep_dense_kernels.hpp"
#include "sweep_dense.hpp"
