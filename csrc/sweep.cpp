// Python's door to the sweep: checks shapes and types, releases the GIL, picks the instruction set.
#include "sweep_door.hpp"

#include <cmath>

namespace spheremix {
namespace {

struct ScorerArrays {
    Array<double> matrix, biases;
    Array<std::int64_t> begin;
    Array<std::int32_t> assignments;
    Array<std::uint64_t> keys;
    Array<double> offsets, pulls;
};

Scorers view(const ScorerArrays& a, const py::object& weights, Index n_rows, double negligible) {
    require(a.matrix.ndim() == 2, "matrix must be two-dimensional");
    require_aligned(a.matrix, a.biases, a.begin, a.assignments, a.keys, a.offsets, a.pulls);
    Scorers scorers{};
    scorers.n_components = a.matrix.shape(0);
    scorers.n_features = a.matrix.shape(1);
    scorers.n_groups = a.begin.size() - 1;
    // The pairs of rows and components of a block are counted in 32 bits.
    require(scorers.n_components > 0 && scorers.n_components < (Index{1} << 24) &&
                scorers.n_features > 0 && a.biases.size() == scorers.n_components &&
                a.begin.ndim() == 1 && scorers.n_groups > 0 && a.begin.at(0) == 0 &&
                a.begin.at(scorers.n_groups) == scorers.n_components &&
                a.assignments.size() == scorers.n_groups && a.keys.size() == 2 * scorers.n_groups &&
                a.offsets.size() == scorers.n_groups && a.pulls.size() == 2 * scorers.n_components,
            "the arrays of the scorers do not fit together");
    scorers.matrix = a.matrix.data();
    scorers.biases = a.biases.data();
    scorers.begin = a.begin.data();
    scorers.assignments = a.assignments.data();
    for (Index g = 0; g < scorers.n_groups; ++g) {
        require(scorers.begin[g] < scorers.begin[g + 1], "a scorer has no component");
        require(scorers.assignments[g] >= soft && scorers.assignments[g] <= variation,
                "there is no assignment of this number");
    }
    scorers.keys = a.keys.data();
    scorers.offsets = a.offsets.data();
    scorers.pulls = a.pulls.data();
    scorers.negligible = negligible;
    if (!weights.is_none()) {
        const auto w = array_of<double>(weights, "weights must be contiguous float64");
        require(has_shape(w, {n_rows}) || has_shape(w, {scorers.n_groups, n_rows}),
                "weights must be of shape (n,) or (scorers, n)");
        scorers.weights = w.data();
        scorers.weight_stride = w.ndim() == 2 ? n_rows : 0;
    }
    return scorers;
}

// Where a sweep leaves the margins of the rows, or nowhere.
void leave_margins(Scorers& scorers, const py::object& margins, const py::object& owners,
                   double clear, Index n_rows, const List& list) {
    if (margins.is_none()) return;
    const char* message = "margins must be contiguous float64, and owners int32";
    auto m = array_of<double>(margins, message);
    auto o = array_of<std::int32_t>(owners, message);
    require(has_shape(m, {scorers.n_groups, n_rows}) && has_shape(o, {scorers.n_groups, n_rows}),
            "margins and owners must be of shape (scorers, n)");
    list.require_increasing();
    scorers.margins = m.mutable_data();
    scorers.owners = o.mutable_data();
    scorers.margin_stride = n_rows;
    scorers.clear = clear;
}

// The scores that rows have from other columns, or none.
void take_scores(Scorers& scorers, const py::object& given, bool complete, Index n_read) {
    require(!complete || !given.is_none(), "complete scores must be given");
    if (given.is_none()) return;
    auto scores = array_of<double>(given, "given scores must be contiguous float64");
    require(has_shape(scores, {n_read, scorers.n_components}),
            "given scores must be of shape (rows, components)");
    scorers.given = scores.mutable_data();
    scorers.complete = complete;
}

// The sums of the scorers, checked; lanes: their number, or less than 0 where there is no such axis.
Sums sums_of(const Scorers& scorers, Index lanes, Array<double>& vectors, Array<double>& mass,
             Array<double>& totals) {
    require_aligned(vectors, mass, totals);
    const Index n = scorers.n_components, d = scorers.n_features, groups = scorers.n_groups;
    require(lanes < 0 ? has_shape(vectors, {n, d}) && has_shape(mass, {n}) &&
                            has_shape(totals, {groups, 2})
                      : has_shape(vectors, {lanes, n, d}) && has_shape(mass, {lanes, n}) &&
                            has_shape(totals, {lanes, groups, 2}),
            "the arrays of the sums do not fit the scorers");
    return {vectors.mutable_data(), mass.mutable_data(), totals.mutable_data()};
}

void sweep_sparse(const py::array& indptr, const py::array& indices, const py::array& data,
                  const Array<double>& scale, Index first, const ScorerArrays& scorers_in,
                  const py::object& weights, double negligible, Array<double>& vectors,
                  Array<double>& mass, Array<double>& totals, bool in_double, int n_threads,
                  const py::object& rows, const py::object& margins, const py::object& owners,
                  double clear, const py::object& given, bool complete) {
    require_threads(n_threads);
    require_first(first);
    const Index n_rows = sparse_count(indptr);
    const List list(rows, n_rows);
    Scorers scorers = view(scorers_in, weights, n_rows, negligible);
    leave_margins(scorers, margins, owners, clear, n_rows, list);
    take_scores(scorers, given, complete, list.count(n_rows));
    const Sums sums = sums_of(scorers, -1, vectors, mass, totals);
    const auto kernel = [&](const auto& read, auto product) {
        using P = decltype(product);
        run_kernel([&](Pulse& pulse) {
            return SPHEREMIX_CALL(sparse_sweep<P>, read, scorers, sums, n_threads, pulse);
        });
    };
    with_sparse(indptr, indices, data, scale, first, in_double, list, kernel);
}

void sweep_dense(const py::array& x, const Array<double>& scale, Index first,
                 const ScorerArrays& scorers_in, const py::object& weights, double negligible,
                 Array<double>& vectors, Array<double>& mass, Array<double>& totals,
                 bool in_double, int n_threads, const py::object& rows, const py::object& margins,
                 const py::object& owners, double clear, const py::object& given, bool complete) {
    require_threads(n_threads);
    require_first(first);
    require(x.ndim() == 2, "X must be a two-dimensional aligned array");
    const List list(rows, x.shape(0));
    Scorers scorers = view(scorers_in, weights, x.shape(0), negligible);
    const Index n_rows = dense_count(x, scorers.n_features);
    leave_margins(scorers, margins, owners, clear, n_rows, list);
    take_scores(scorers, given, complete, list.count(n_rows));
    require(mass.ndim() == 2, "mass must have an axis of lanes");
    const Index n_lanes = dense_lanes(scorers.n_components, scorers.n_features);
    const Index there = mass.shape(0);
    const Sums lanes = sums_of(scorers, there, vectors, mass, totals);
    require(there >= n_lanes || first + list.count(n_rows) <= there * dense_block,
            "too few lanes");
    const auto kernel = [&](const auto& read, auto product) {
        using P = decltype(product);
        run_kernel([&](Pulse& pulse) {
            return SPHEREMIX_CALL(dense_sweep<P>, read, scorers, lanes, n_lanes, n_threads, pulse);
        });
    };
    with_dense(x, scale, first, in_double, list, kernel);
}

// The sums (K, d) and (K,) to which listed rows are added, checked; the kernel of typed rows.
template <class With>
void add_listed_rows(const Array<std::int32_t>& owners, const Array<double>& factors, Index n_listed,
                     Array<double>& vectors, Array<double>& mass, int n_threads, const With& with) {
    require_threads(n_threads);
    require_aligned(owners, factors, vectors, mass);
    require(vectors.ndim() == 2 && has_shape(mass, {vectors.shape(0)}) &&
                has_shape(owners, {n_listed}) && has_shape(factors, {n_listed}),
            "the listed rows and their sums do not fit together");
    const Index n_components = vectors.shape(0), n_features = vectors.shape(1);
    bool known = true;
    for (Index i = 0; i < n_listed; ++i)
        known &= owners.data()[i] >= 0 && owners.data()[i] < n_components;
    require(known, "a listed row has a component that is not there");
    const Listed listed{owners.data(), factors.data()};
    const Sums sums{vectors.mutable_data(), mass.mutable_data(), nullptr};
    with([&](const auto& rows, auto) {
        run_kernel([&](Pulse& pulse) {
            return SPHEREMIX_CALL(add_listed, rows, listed, n_components, n_features, sums,
                                  n_threads, pulse);
        });
    });
}

void add_sparse(const py::array& indptr, const py::array& indices, const py::array& data,
                const Array<double>& scale, const Array<Index>& rows,
                const Array<std::int32_t>& owners, const Array<double>& factors,
                Array<double>& vectors, Array<double>& mass, int n_threads) {
    const List list(rows, sparse_count(indptr));
    add_listed_rows(owners, factors, list.size, vectors, mass, n_threads, [&](const auto& kernel) {
        with_sparse(indptr, indices, data, scale, 0, true, list, kernel);
    });
}

void add_dense(const py::array& x, const Array<double>& scale, const Array<Index>& rows,
               const Array<std::int32_t>& owners, const Array<double>& factors,
               Array<double>& vectors, Array<double>& mass, int n_threads) {
    require(vectors.ndim() == 2, "the sums must be two-dimensional");
    const List list(rows, dense_count(x, vectors.shape(1)));
    add_listed_rows(owners, factors, list.size, vectors, mass, n_threads, [&](const auto& kernel) {
        with_dense(x, scale, 0, true, list, kernel);
    });
}

void map_sparse(const py::array& indptr, const py::array& indices, const py::array& data,
                const Array<double>& scale, Index first, const ScorerArrays& scorers_in, int want,
                py::array& out, bool in_double, int n_threads, const py::object& rows_in,
                const py::object& given) {
    require_threads(n_threads);
    require_first(first);
    const List list(rows_in, sparse_count(indptr));
    const Index n_read = list.count(sparse_count(indptr));
    Scorers scorers = view(scorers_in, py::none(), n_read, 0.0);
    take_scores(scorers, given, false, n_read);
    const RowMap map = map_of(scorers, n_read, want, out);
    const auto kernel = [&](const auto& rows, auto product) {
        using P = decltype(product);
        run_kernel([&](Pulse& pulse) {
            return SPHEREMIX_CALL(sparse_map<P>, rows, scorers, map, n_threads, pulse);
        });
    };
    with_sparse(indptr, indices, data, scale, first, in_double, list, kernel);
}

void map_dense(const py::array& x, const Array<double>& scale, Index first,
               const ScorerArrays& scorers_in, int want, py::array& out, bool in_double,
               int n_threads, const py::object& rows_in, const py::object& given) {
    require_threads(n_threads);
    require_first(first);
    Scorers scorers = view(scorers_in, py::none(), 0, 0.0);
    const Index n_rows = dense_count(x, scorers.n_features);
    const List list(rows_in, n_rows);
    const Index n_read = list.count(n_rows);
    take_scores(scorers, given, false, n_read);
    const RowMap map = map_of(scorers, n_read, want, out);
    const auto kernel = [&](const auto& rows, auto product) {
        using P = decltype(product);
        run_kernel([&](Pulse& pulse) {
            return SPHEREMIX_CALL(dense_map<P>, rows, scorers, map, n_threads, pulse);
        });
    };
    with_dense(x, scale, first, in_double, list, kernel);
}

}  // namespace

void bind_sweep(py::module_& m) {
    py::class_<ScorerArrays>(m, "ScorerArrays", py::module_local(),
                             "The stacked components of several scorers; scorer g owns components "
                             "begin[g] .. begin[g + 1] - 1.")
        .def(py::init([](Array<double> matrix, Array<double> biases, Array<std::int64_t> begin,
                         Array<std::int32_t> assignments, Array<std::uint64_t> keys,
                         Array<double> offsets, Array<double> pulls) {
                 return ScorerArrays{std::move(matrix),      std::move(biases), std::move(begin),
                                     std::move(assignments), std::move(keys),   std::move(offsets),
                                     std::move(pulls)};
             }),
             py::arg("matrix").noconvert(), py::arg("biases").noconvert(),
             py::arg("begin").noconvert(), py::arg("assignments").noconvert(),
             py::arg("keys").noconvert(), py::arg("offsets").noconvert(),
             py::arg("pulls").noconvert());
    m.attr("DENSE_BLOCK") = dense_block;
    m.def(
        "dense_lanes",
        [](Index n_components, Index n_features) {
            constexpr Index most = Index{1} << 31;
            require(n_components >= 1 && n_components < most && n_features >= 1 && n_features < most,
                    "n_components and n_features must be from 1 to 2**31 - 1");
            return dense_lanes(n_components, n_features);
        },
        "Lanes of the dense sums for this size of them.");
    m.def("sweep_sparse", &sweep_sparse,
          "Add the resultants of CSR rows to vectors (K, d), mass (K,) and totals (S, 2), in row "
          "order: calls on successive rows give the same bits as one call.",
          py::arg("indptr"), py::arg("indices"), py::arg("data"), py::arg("scale").noconvert(),
          py::arg("first_row"), py::arg("scorers"), py::arg("weights"), py::arg("negligible"),
          py::arg("vectors").noconvert(), py::arg("mass").noconvert(),
          py::arg("totals").noconvert(), py::arg("in_double"), py::arg("n_threads"),
          py::arg("rows") = py::none(), py::arg("margins") = py::none(),
          py::arg("owners") = py::none(), py::arg("clear") = INFINITY,
          py::arg("given") = py::none(), py::arg("complete") = false);
    m.def("sweep_dense", &sweep_dense,
          "Add the resultants of dense rows to lanes of vectors (L, K, d), mass (L, K) and totals "
          "(L, S, 2). Calls on successive rows give the same bits as one call when each begins at "
          "a multiple of DENSE_BLOCK; the result is the sum of the lanes in order.",
          py::arg("x"), py::arg("scale").noconvert(), py::arg("first_row"), py::arg("scorers"),
          py::arg("weights"), py::arg("negligible"), py::arg("vectors").noconvert(),
          py::arg("mass").noconvert(), py::arg("totals").noconvert(), py::arg("in_double"),
          py::arg("n_threads"), py::arg("rows") = py::none(), py::arg("margins") = py::none(),
          py::arg("owners") = py::none(), py::arg("clear") = INFINITY,
          py::arg("given") = py::none(), py::arg("complete") = false);
    m.def("add_sparse", &add_sparse,
          "Add listed CSR rows, times factors, to the vectors (K, d) and mass (K,) of their owners.",
          py::arg("indptr"), py::arg("indices"), py::arg("data"), py::arg("scale").noconvert(),
          py::arg("rows").noconvert(), py::arg("owners").noconvert(),
          py::arg("factors").noconvert(), py::arg("vectors").noconvert(),
          py::arg("mass").noconvert(), py::arg("n_threads"));
    m.def("add_dense", &add_dense,
          "Add listed dense rows, times factors, to the vectors (K, d) and mass (K,) of their owners.",
          py::arg("x"), py::arg("scale").noconvert(), py::arg("rows").noconvert(),
          py::arg("owners").noconvert(), py::arg("factors").noconvert(),
          py::arg("vectors").noconvert(), py::arg("mass").noconvert(), py::arg("n_threads"));
    m.def("map_sparse", &map_sparse, "Give row by row what one scorer says of CSR rows.",
          py::arg("indptr"), py::arg("indices"), py::arg("data"), py::arg("scale").noconvert(),
          py::arg("first_row"), py::arg("scorers"), py::arg("want"), py::arg("out"),
          py::arg("in_double"), py::arg("n_threads"),
          py::arg("rows") = py::none(), py::arg("given") = py::none());
    m.def("map_dense", &map_dense, "Give row by row what one scorer says of dense rows.",
          py::arg("x"), py::arg("scale").noconvert(), py::arg("first_row"), py::arg("scorers"),
          py::arg("want"), py::arg("out"), py::arg("in_double"), py::arg("n_threads"),
          py::arg("rows") = py::none(), py::arg("given") = py::none());
}

}  // namespace spheremix
