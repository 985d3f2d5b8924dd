// The extension spheremix._kernels: arrays in, arrays out, no Python objects inside a loop.
#include <pybind11/pybind11.h>

#include "cpu.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_kernels, m, py::mod_gil_not_used()) {
    m.doc() = "Compiled kernels of spheremix.";
    m.def("simd_level", &spheremix::simd_level,
          "Instruction set chosen for this CPU: 'avx512', 'avx2' or 'baseline'.");
}
