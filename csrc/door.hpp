// What all doors of the extension check: arrays that are read in place, sizes, numbers of threads.
// Whatever is wrong becomes a ValueError of Python before a kernel sees it.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>

namespace spheremix {
namespace {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style>;
using Index = std::int64_t;

constexpr int most_threads = 4096;  // more than any machine has

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

[[maybe_unused]] void require_threads(int n_threads) {
    require(n_threads >= 1 && n_threads <= most_threads, "n_threads must be from 1 to 4096");
}

// Whether an array holds numbers of this type, in the byte order of this machine, strides aside.
template <class T>
bool holds(const py::array& a) {
    return py::isinstance<py::array_t<T, 0>>(a);
}

template <class T>
bool is_aligned(const py::array& a) {
    return reinterpret_cast<std::uintptr_t>(a.data()) % alignof(T) == 0;
}

template <class... T>
void require_aligned(const Array<T>&... arrays) {
    require((is_aligned<T>(arrays) && ...), "arrays must be aligned");
}

// Sizes are compared one by one: no product of them can overflow.
[[maybe_unused]] bool has_shape(const py::array& a, std::initializer_list<Index> shape) {
    if (a.ndim() != static_cast<Index>(shape.size())) return false;
    Index axis = 0;
    for (const Index size : shape)
        if (a.shape(axis++) != size) return false;
    return true;
}

// An argument that may be None, as an array that is read in place.
template <class T>
Array<T> array_of(const py::object& argument, const char* message) {
    require(py::isinstance<Array<T>>(argument), message);
    auto array = py::reinterpret_borrow<Array<T>>(argument);
    require_aligned(array);
    return array;
}

}  // namespace
}  // namespace spheremix
