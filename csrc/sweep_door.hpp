// What the doors of the sweep have in common: checks of shapes and types, typed views of the rows of
// Python's arrays, the instruction set, and Ctrl-C.
#pragma once

#include "cpu.hpp"
#include "door.hpp"
#include "sweep_kernels.hpp"

namespace spheremix {
namespace {

#if SPHEREMIX_X86
#define SPHEREMIX_CALL(function, ...)                                              \
    (simd_level() == "avx512" ? avx512::function(__VA_ARGS__)                      \
                              : simd_level() == "avx2" ? avx2::function(__VA_ARGS__) \
                                                       : baseline::function(__VA_ARGS__))
#elif SPHEREMIX_NEON
#define SPHEREMIX_CALL(function, ...) \
    (simd_level() == "neon" ? neon::function(__VA_ARGS__) : baseline::function(__VA_ARGS__))
#else
#define SPHEREMIX_CALL(function, ...) baseline::function(__VA_ARGS__)
#endif

// Ctrl-C: true leaves the error set for the thread that released the GIL.
bool interrupted() {
    py::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

// Run a kernel without the GIL; raise KeyboardInterrupt when it was told to stop, and an error when
// it met an index that is outside the columns.
template <class Kernel>
void run_kernel(const Kernel& kernel) {
    Pulse pulse(&interrupted);
    bool finished;
    {
        py::gil_scoped_release nogil;
        finished = kernel(pulse);
    }
    if (pulse.invalid())
        throw std::runtime_error(
            "An index of the CSR matrix is outside its columns: the matrix was changed after it was "
            "opened. Leave X as it is while it is in use, or open a copy of it.");
    if (!finished) throw py::error_already_set();
}

// What map_rows fills, checked.
[[maybe_unused]] RowMap map_of(const Scorers& scorers, Index n_rows, int want, py::array& out) {
    require(scorers.n_groups == 1, "rows are mapped by one scorer");
    require(want >= labels && want <= log_density, "nothing of this number can be wanted");
    const bool wide = want == posteriors || want == scores;
    require(wide ? has_shape(out, {n_rows, scorers.n_components}) : has_shape(out, {n_rows}),
            "out does not fit what is wanted");
    require((want == labels ? holds<std::int64_t>(out) : holds<double>(out)) &&
                (out.flags() & py::array::c_style) != 0 && is_aligned<double>(out),
            "out must be contiguous int64 for labels, float64 for the rest");
    void* data = out.mutable_data();
    return {static_cast<Want>(want), static_cast<double*>(data), static_cast<std::int64_t*>(data)};
}

// The number of the first row among all rows: sums of it and numbers of rows cannot overflow.
[[maybe_unused]] void require_first(Index first) {
    require(first >= 0 && first <= (Index{1} << 62), "first_row must be from 0 to 2**62");
}

[[maybe_unused]] Index dense_count(const py::array& x, Index n_features) {
    require(x.ndim() == 2, "X must be a two-dimensional aligned array");
    require(x.shape(1) == n_features, "X and the components differ in their features");
    return x.shape(0);
}

[[maybe_unused]] Index sparse_count(const py::array& indptr) {
    require(indptr.ndim() == 1 && indptr.size() > 0,
            "the arrays of the CSR matrix do not fit together: indptr has no entry");
    return indptr.size() - 1;
}

// The rows that are read: those of an array of their numbers, or all.
struct List {
    List() = default;
    List(const py::object& rows, Index n_rows) {
        if (rows.is_none()) return;
        const auto listed = array_of<Index>(rows, "a list of rows must be contiguous int64");
        data = listed.data();
        size = listed.size();
        there = true;
        bool inside = true;
        for (Index i = 0; i < size; ++i) {
            inside &= data[i] >= 0 && data[i] < n_rows;
            increases &= i == 0 || data[i - 1] < data[i];
        }
        require(inside, "a list of rows has a row that is not there");
    }
    Index count(Index n_rows) const { return there ? size : n_rows; }
    // Where something is stored for each row, no two threads may have the same one.
    void require_increasing() const { require(increases, "a list of rows must increase"); }

    const Index* data = nullptr;
    Index size = 0;
    bool there = false, increases = true;
};

template <class T>
DenseRows<T> dense_rows(const py::array& x, const Array<double>& scale, Index first,
                        const List& list) {
    constexpr Index size = sizeof(T);
    require(is_aligned<T>(x) && x.strides(0) % size == 0 && x.strides(1) % size == 0,
            "X must be a two-dimensional aligned array");
    require_aligned(scale);
    require(has_shape(scale, {x.shape(0)}), "scale must have one entry a row");
    return {static_cast<const T*>(x.data()), x.strides(0) / size, x.strides(1) / size, scale.data(),
            list.count(x.shape(0)), first, list.data};
}

template <class T, class I>
SparseRows<T, I> sparse_rows(const py::array& indptr, const py::array& indices,
                             const py::array& data, const Array<double>& scale, Index first,
                             const List& list) {
    require(is_aligned<I>(indptr) && is_aligned<I>(indices) && is_aligned<T>(data),
            "the arrays of the CSR matrix must be aligned");
    require_aligned(scale);
    const auto* p = static_cast<const I*>(indptr.data());
    const Index n = indptr.size() - 1;
    bool increases = p[0] >= 0;
    for (Index i = 0; i < n; ++i) increases &= p[i] <= p[i + 1];
    require(increases && has_shape(scale, {n}) && static_cast<Index>(p[n]) <= indices.size() &&
                static_cast<Index>(p[n]) <= data.size(),
            "the arrays of the CSR matrix do not fit together");
    return {p, static_cast<const I*>(indices.data()), static_cast<const T*>(data.data()),
            scale.data(), list.count(n), first, static_cast<Index>(p[n]), list.data};
}

bool is_double(const py::array& a) {
    if (holds<double>(a)) return true;
    require(holds<float>(a), "X must be float32 or float64");
    return false;
}

// Call with a typed view of the dense matrix, and a number of the type of products: double, or
// where in_double is false that of the matrix.
template <class Function>
void with_dense(const py::array& x, const Array<double>& scale, Index first, bool in_double,
                const List& list, const Function& function) {
    if (is_double(x))
        function(dense_rows<double>(x, scale, first, list), 0.0);
    else if (in_double)
        function(dense_rows<float>(x, scale, first, list), 0.0);
    else
        function(dense_rows<float>(x, scale, first, list), 0.0f);
}

bool is_long(const py::array& a) {
    if (holds<Index>(a)) return true;
    require(holds<std::int32_t>(a), "indices must be int32 or int64");
    return false;
}

// Call with a typed view of the CSR matrix, and a number of the type of products, as above.
template <class Function>
void with_sparse(const py::array& indptr, const py::array& indices, const py::array& data,
                 const Array<double>& scale, Index first, bool in_double,
                 const List& list, const Function& function) {
    require(is_long(indptr) == is_long(indices), "indptr and indices must have the same type");
    require((indptr.flags() & indices.flags() & data.flags() & py::array::c_style) != 0,
            "the arrays of the CSR matrix must be contiguous");
    const auto call = [&](auto entry, auto product) {
        using T = decltype(entry);
        if (is_long(indices))
            function(sparse_rows<T, Index>(indptr, indices, data, scale, first, list), product);
        else
            function(sparse_rows<T, std::int32_t>(indptr, indices, data, scale, first, list),
                     product);
    };
    if (is_double(data))
        call(0.0, 0.0);
    else if (in_double)
        call(0.0f, 0.0);
    else
        call(0.0f, 0.0f);
}

}  // namespace
}  // namespace spheremix
