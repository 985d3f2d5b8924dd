// The extension spheremix._kernels: arrays in, arrays out, no Python objects inside a loop.
#include <pybind11/pybind11.h>

#include "cpu.hpp"

namespace py = pybind11;

namespace spheremix {
void bind_columns(py::module_& m);
void bind_layout(py::module_& m);
void bind_movement(py::module_& m);
void bind_mstep(py::module_& m);
void bind_near(py::module_& m);
void bind_sweep(py::module_& m);
}  // namespace spheremix

PYBIND11_MODULE(_kernels, m, py::mod_gil_not_used()) {
    m.doc() = "Compiled kernels of spheremix.";
    spheremix::bind_columns(m);
    spheremix::bind_layout(m);
    spheremix::bind_movement(m);
    spheremix::bind_mstep(m);
    spheremix::bind_near(m);
    spheremix::bind_sweep(m);
    m.def("simd_level", &spheremix::simd_level,
          "Instruction set that the kernels use: 'avx512', 'avx2' or 'baseline'.");
}
