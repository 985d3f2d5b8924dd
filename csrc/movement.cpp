// How far scorers have moved, and what rows that are left out add: passes over (K, d) arrays.
#include <cmath>

#include "door.hpp"
#include "pool.hpp"

namespace spheremix {
namespace {

// The sum over j of term(j), in eight partial sums: the same bits on every CPU.
template <class Term>
double summed(std::int64_t n, const Term& term) {
    double parts[8] = {};
    std::int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int l = 0; l < 8; ++l) parts[l] += term(j + l);
    for (; j < n; ++j) parts[j % 8] += term(j);
    return ((parts[0] + parts[4]) + (parts[2] + parts[6])) +
           ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

// OUT one number a component: of_row(a_k, b_k, d). Components are shared by threads.
template <class OfRow>
Array<double> by_component(const Array<double>& a, const Array<double>& b, int n_threads, const OfRow& of_row) {
    require_threads(n_threads);
    require_aligned(a, b);
    require(a.ndim() == 2 && has_shape(b, {a.shape(0), a.shape(1)}), "shapes do not agree");
    struct Job {
        const double *a, *b;
        std::int64_t d;
        double* out;
        const OfRow* of_row;
    };
    Array<double> out(a.shape(0));
    Job job{a.data(), b.data(), a.shape(1), out.mutable_data(), &of_row};
    const int threads = a.size() < (std::int64_t{1} << 16) ? 1 : n_threads;
    {
        py::gil_scoped_release released;
        Pool::instance().run(
            a.shape(0), threads,
            [](void* context, std::int64_t k, int) {
                const Job& job = *static_cast<Job*>(context);
                job.out[k] = (*job.of_row)(job.a + k * job.d, job.b + k * job.d, job.d);
            },
            &job);
    }
    return out;
}

Array<double> distances(const Array<double>& before, const Array<double>& after, int n_threads) {
    return by_component(before, after, n_threads,
                        [](const double* a, const double* b, std::int64_t d) {
                            return std::sqrt(summed(d, [&](std::int64_t j) {
                                const double step = b[j] - a[j];
                                return step * step;
                            }));
                        });
}

Array<double> dots(const Array<double>& vectors, const Array<double>& matrix, int n_threads) {
    return by_component(vectors, matrix, n_threads,
                        [](const double* a, const double* b, std::int64_t d) {
                            return summed(d, [&](std::int64_t j) { return a[j] * b[j]; });
                        });
}

}  // namespace

void bind_movement(py::module_& m) {
    m.def("distances", &distances, "Lengths of after_k - before_k, both (K, d).",
          py::arg("before").noconvert(), py::arg("after").noconvert(), py::arg("n_threads"));
    m.def("dots", &dots, "Products of vectors_k and matrix_k, both (K, d).",
          py::arg("vectors").noconvert(), py::arg("matrix").noconvert(), py::arg("n_threads"));
}

}  // namespace spheremix
