// The map of documents: nearest rows, the grid, and one step of all points. The formulas, and the
// same in NumPy, are in reading/document_map.py. Every sum has one order: the bits of a result do
// not depend on the number of threads.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "door.hpp"
#include "pool.hpp"

namespace spheremix {
namespace {

constexpr Index stencil = 4;       // nodes a dimension that a point is spread over
constexpr Index rows_a_task = 512;
constexpr Index most_nodes = Index{1} << 14;

// ------------------------------------------------------------------------------------ neighbours

// The k largest numbers of a row, the largest first, of equal ones the first; not the one at `own`.
bool select(const float* values, Index n, Index own, Index k, std::vector<std::pair<float, Index>>& held,
            float* best, Index* places) {
    const auto before = [](const auto& a, const auto& b) {
        return a.first > b.first || (a.first == b.first && a.second < b.second);
    };
    const std::size_t room = 4 * static_cast<std::size_t>(k);
    float least = -std::numeric_limits<float>::infinity();
    held.clear();
    for (Index j = 0; j < n; ++j) {
        if (!(values[j] > least) || j == own) continue;
        held.emplace_back(values[j], j);
        if (held.size() < room) continue;
        std::nth_element(held.begin(), held.begin() + (k - 1), held.end(), before);
        held.resize(static_cast<std::size_t>(k));
        least = held.back().first;
    }
    if (held.size() < static_cast<std::size_t>(k)) return false;
    std::partial_sort(held.begin(), held.begin() + k, held.end(), before);
    for (Index j = 0; j < k; ++j) {
        best[j] = held[static_cast<std::size_t>(j)].first;
        places[j] = held[static_cast<std::size_t>(j)].second;
    }
    return true;
}

py::tuple largest(const Array<float>& values, const Array<Index>& own, Index k) {
    require_aligned(values, own);
    require(values.ndim() == 2 && has_shape(own, {values.shape(0)}), "shapes do not agree");
    const Index m = values.shape(0), n = values.shape(1);
    require(k >= 1 && k <= n, "k must be from 1 to the number of columns");
    Array<float> best({m, k});
    Array<Index> places({m, k});
    bool found = true;
    {
        float* b = best.mutable_data();
        Index* p = places.mutable_data();
        const float* v = values.data();
        const Index* skip = own.data();
        py::gil_scoped_release released;
        std::vector<std::pair<float, Index>> held;
        held.reserve(4 * static_cast<std::size_t>(k));
        for (Index i = 0; i < m && found; ++i)
            found = select(v + i * n, n, skip[i], k, held, b + i * k, p + i * k);
    }
    require(found, "a row has fewer numbers than are asked for");
    return py::make_tuple(best, places);
}

// ------------------------------------------------------------------------------------------ grid

struct Grid {
    double low[2];
    double step;
    Index n_nodes;

    // The first of the four nodes around a coordinate, and the weights of a cubic interpolation;
    // false where they are not all on the grid.
    bool around(double coordinate, int axis, Index& first, double* weights) const {
        const double scaled = (coordinate - low[axis]) / step + 1.0;
        if (!(scaled >= 1.0 && scaled < static_cast<double>(n_nodes - 2))) return false;
        const Index node = static_cast<Index>(scaled);
        const double t = scaled - static_cast<double>(node);
        first = node - 1;
        weights[0] = -t * (t - 1.0) * (t - 2.0) / 6.0;
        weights[1] = (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0;
        weights[2] = -(t + 1.0) * t * (t - 2.0) / 2.0;
        weights[3] = (t + 1.0) * t * (t - 1.0) / 6.0;
        return true;
    }
};

Grid grid_of(double low_x, double low_y, double step, Index n_nodes) {
    require(n_nodes >= stencil && n_nodes <= most_nodes && step > 0.0, "this is no grid");
    return {{low_x, low_y}, step, n_nodes};
}

struct Density {
    const double *places, *masses;
    Index n, stripe;
    Grid grid;
    double* out;
    std::atomic<bool> inside{true};

    // A stripe of lines of nodes: points are added in their order.
    void add(Index task) {
        const Index begin = task * stripe, end = std::min(begin + stripe, grid.n_nodes);
        double wx[stencil], wy[stencil];
        for (Index i = 0; i < n; ++i) {
            Index x, y;
            if (!grid.around(places[2 * i], 0, x, wx)) return inside.store(false);
            if (x + stencil <= begin || x >= end) continue;
            if (!grid.around(places[2 * i + 1], 1, y, wy)) return inside.store(false);
            for (Index a = std::max(Index{0}, begin - x); a < stencil && x + a < end; ++a) {
                double* line = out + (x + a) * grid.n_nodes + y;
                for (Index b = 0; b < stencil; ++b) line[b] += wx[a] * wy[b] * masses[i];
            }
        }
    }
};

Array<double> map_density(const Array<double>& places, const Array<double>& masses, double low_x,
                          double low_y, double step, Index n_nodes, int n_threads) {
    require_threads(n_threads);
    require_aligned(places, masses);
    const Index n = masses.size();
    require(has_shape(places, {n, 2}), "shapes do not agree");
    const Grid grid = grid_of(low_x, low_y, step, n_nodes);  // before so many nodes are allocated
    Array<double> out({n_nodes, n_nodes});
    Density job{places.data(), masses.data(), n, 0, grid, out.mutable_data()};
    const Index n_stripes = n_threads == 1 ? 1 : std::min(n_nodes, Index{4} * n_threads);
    job.stripe = (n_nodes + n_stripes - 1) / n_stripes;
    {
        py::gil_scoped_release released;
        std::fill(job.out, job.out + n_nodes * n_nodes, 0.0);
        Pool::instance().run(
            n_stripes, n_threads,
            [](void* context, std::int64_t task, int) { static_cast<Density*>(context)->add(task); },
            &job);
    }
    require(job.inside.load(), "a point is outside the grid");
    return out;
}

// ------------------------------------------------------------------------------------------ step

struct Step {
    const double *places, *masses;
    Index n;
    const Index* indptr;
    const std::int32_t* indices;
    const double* strengths;
    const double* fields[2];
    Grid grid;
    double pull, push, momentum, rate, longest;
    double *velocity, *gains, *out;
    std::atomic<bool> inside{true};

    void move(Index i) {
        const double x = places[2 * i], y = places[2 * i + 1];
        double pulled[2] = {}, pushed[2] = {};
        for (Index e = indptr[i]; e < indptr[i + 1]; ++e) {
            const double* other = places + 2 * static_cast<Index>(indices[e]);
            const double dx = x - other[0], dy = y - other[1];
            const double weight = strengths[e] / (1.0 + (dx * dx + dy * dy));
            pulled[0] += weight * dx;
            pulled[1] += weight * dy;
        }
        double wx[stencil], wy[stencil];
        Index first, second;
        if (!grid.around(x, 0, first, wx) || !grid.around(y, 1, second, wy))
            return inside.store(false);
        for (Index a = 0; a < stencil; ++a)
            for (Index b = 0; b < stencil; ++b) {
                const Index node = (first + a) * grid.n_nodes + second + b;
                const double weight = wx[a] * wy[b];
                pushed[0] += weight * fields[0][node];
                pushed[1] += weight * fields[1][node];
            }
        double moved[2];
        for (int axis = 0; axis < 2; ++axis) {
            const double slope = pull * pulled[axis] / masses[i] - pushed[axis] / push;
            double& speed = velocity[2 * i + axis];
            double& gain = gains[2 * i + axis];
            gain = std::max((slope > 0.0) == (speed > 0.0) ? 0.8 * gain : gain + 0.2, 0.01);
            moved[axis] = momentum * speed - rate * gain * slope;
        }
        const double length = std::sqrt(moved[0] * moved[0] + moved[1] * moved[1]);
        const double shorter = longest / std::max(length, longest);
        for (int axis = 0; axis < 2; ++axis) {
            velocity[2 * i + axis] = moved[axis] * shorter;
            out[2 * i + axis] = places[2 * i + axis] + velocity[2 * i + axis];
        }
    }
};

Array<double> map_step(const Array<double>& places, const Array<double>& masses,
                       const Array<Index>& indptr, const Array<std::int32_t>& indices,
                       const Array<double>& strengths, const Array<double>& field_x,
                       const Array<double>& field_y, double low_x, double low_y, double step,
                       double pull, double push, double momentum, double rate, double longest,
                       Array<double>& velocity, Array<double>& gains, int n_threads) {
    require_threads(n_threads);
    require_aligned(places, masses, indptr, indices, strengths, field_x, field_y, velocity, gains);
    const Index n = masses.size();
    require(field_x.ndim() == 2 && has_shape(field_x, {field_x.shape(0), field_x.shape(0)}) &&
                has_shape(field_y, {field_x.shape(0), field_x.shape(0)}),
            "the fields must be square");
    require(has_shape(places, {n, 2}) && has_shape(velocity, {n, 2}) && has_shape(gains, {n, 2}) &&
                indptr.size() == n + 1 && indices.size() == strengths.size(),
            "shapes do not agree");
    bool fits = indptr.data()[0] == 0 && indptr.data()[n] == indices.size();
    for (Index i = 0; i < n && fits; ++i) fits = indptr.data()[i] <= indptr.data()[i + 1];
    for (Index e = 0; e < indices.size(); ++e)
        fits &= indices.data()[e] >= 0 && indices.data()[e] < n;
    require(fits, "the neighbours do not fit the points");
    Array<double> out({n, Index{2}});
    Step job{places.data(), masses.data(), n, indptr.data(), indices.data(), strengths.data(),
             {field_x.data(), field_y.data()}, grid_of(low_x, low_y, step, field_x.shape(0)),
             pull, push, momentum, rate, longest, velocity.mutable_data(), gains.mutable_data(),
             out.mutable_data()};
    {
        py::gil_scoped_release released;
        Pool::instance().run(
            (n + rows_a_task - 1) / rows_a_task, n_threads,
            [](void* context, std::int64_t task, int) {
                Step& job = *static_cast<Step*>(context);
                const Index end = std::min(job.n, (task + 1) * rows_a_task);
                for (Index i = task * rows_a_task; i < end; ++i) job.move(i);
            },
            &job);
    }
    require(job.inside.load(), "a point is outside the grid");
    return out;
}

}  // namespace

void bind_layout(py::module_& m) {
    m.def("largest", &largest,
          "The k largest numbers of each row and their columns, without the column `own`.",
          py::arg("values").noconvert(), py::arg("own").noconvert(), py::arg("k"));
    m.def("map_density", &map_density, "Masses at (n, 2) places, spread over the nodes of a grid.",
          py::arg("places").noconvert(), py::arg("masses").noconvert(), py::arg("low_x"),
          py::arg("low_y"), py::arg("step"), py::arg("n_nodes"), py::arg("n_threads"));
    m.def("map_step", &map_step,
          "The places after one step; velocity and gains, both (n, 2), are changed.",
          py::arg("places").noconvert(), py::arg("masses").noconvert(),
          py::arg("indptr").noconvert(), py::arg("indices").noconvert(),
          py::arg("strengths").noconvert(), py::arg("field_x").noconvert(),
          py::arg("field_y").noconvert(), py::arg("low_x"), py::arg("low_y"), py::arg("step"),
          py::arg("pull"), py::arg("push"), py::arg("momentum"), py::arg("rate"),
          py::arg("longest"), py::arg("velocity").noconvert(), py::arg("gains").noconvert(),
          py::arg("n_threads"));
}

}  // namespace spheremix
