// Python's door to sweeps over sparse components, and to what is done with these.
#include "sweep_door.hpp"

#include <cstring>

namespace spheremix {
namespace {

constexpr Index most_vectors = Index{1} << 30;

// Vectors in CSR form. Their arrays are Python's, and may have changed since they were opened.
struct SparseVectors {
    Array<Index> indptr;
    Array<std::int32_t> indices;
    Array<double> values;
    Index n_features;

    Index count() const { return indptr.size() - 1; }
    Index begin(Index k) const { return indptr.data()[k]; }
    Index end(Index k) const { return indptr.data()[k + 1]; }

    // Whether the entries of each vector are there.
    void require_pointers() const {
        require_aligned(indptr, indices, values);
        const Index n = count();
        bool fits = indptr.ndim() == 1 && n >= 1 && n < most_vectors && n_features >= 1 &&
                    n_features < (Index{1} << 31) && begin(0) == 0 &&
                    end(n - 1) == indices.size() && indices.size() == values.size();
        for (Index k = 0; fits && k < n; ++k) fits = begin(k) <= end(k);
        require(fits, "the arrays of the vectors do not fit together");
    }
    // And whether their columns are there, and increase.
    void require_valid() const {
        require_pointers();
        const std::int32_t* columns = indices.data();
        const auto bound = static_cast<std::uint32_t>(n_features);
        bool fits = true;
        for (Index k = 0; k < count(); ++k)
            for (Index p = begin(k), from = p, to = end(k); p < to; ++p)
                fits &= static_cast<std::uint32_t>(columns[p]) < bound &&
                        (p == from || columns[p - 1] < columns[p]);
        require(fits, "the arrays of the vectors do not fit together");
    }
};

SparseVectors checked(Array<Index> indptr, Array<std::int32_t> indices, Array<double> values,
                      Index n_features) {
    SparseVectors vectors{std::move(indptr), std::move(indices), std::move(values), n_features};
    vectors.require_valid();
    return vectors;
}

// The numbers of an array of so many, or null for None.
const double* numbers_or_null(const py::object& array, Index size) {
    if (array.is_none()) return nullptr;
    const auto numbers = array_of<double>(array, "numbers must be contiguous float64");
    require(numbers.size() == size, "there must be as many numbers as rows or components ask for");
    return numbers.data();
}

void sweep_columns(const py::array& indptr, const py::array& indices, const py::array& data,
                   const Array<double>& scale, const SparseVectors& vectors,
                   const Array<double>& biases, const Array<std::int32_t>& members,
                   const py::object& rows, Array<std::int32_t>& owners, Array<double>& scores,
                   Array<double>& seconds, Array<bool>& open, const py::object& pulls,
                   const py::object& weights, bool in_double, int n_threads) {
    require_threads(n_threads);
    vectors.require_valid();
    require_aligned(biases, members, owners, scores, seconds);
    const Index n_rows = sparse_count(indptr), n = vectors.count();
    const List list(rows, n_rows);
    list.require_increasing();
    require(biases.size() == n && members.size() > 0 && owners.size() == n_rows &&
                scores.size() == n_rows && seconds.size() == n_rows && open.size() == n_rows,
            "what is known of the rows does not fit them, or the components");
    std::vector<unsigned char> is_member(static_cast<std::size_t>(n), 0);
    for (Index z = 0; z < members.size(); ++z) {
        const std::int32_t k = members.data()[z];
        require(k >= 0 && k < n && (z == 0 || members.data()[z - 1] < k),
                "the components to score must be numbers that increase");
        is_member[static_cast<std::size_t>(k)] = 1;
    }
    for (Index i = 0; i < n_rows; ++i)
        require(owners.data()[i] >= 0 && owners.data()[i] < n, "there is no such component");
    const SparseComponents components{vectors.indptr.data(), vectors.indices.data(),
                                      vectors.values.data(), biases.data(), n, vectors.n_features,
                                      members.data(), members.size()};
    const Winners winners{is_member.data(), owners.mutable_data(), scores.mutable_data(),
                          seconds.mutable_data(),
                          reinterpret_cast<unsigned char*>(open.mutable_data()),
                          numbers_or_null(pulls, 2 * n), numbers_or_null(weights, n_rows)};
    require(!winners.pulls || components.all(), "variation asks for the scores of all components");
    const auto kernel = [&](const auto& read, auto product) {
        using P = decltype(product);
        run_kernel([&](Pulse& pulse) {
            return SPHEREMIX_CALL(sweep_by_columns<P>, read, components, winners, n_threads, pulse);
        });
    };
    with_sparse(indptr, indices, data, scale, 0, in_double, list, kernel);
}

void map_columns(const py::array& indptr, const py::array& indices, const py::array& data,
                 const Array<double>& scale, Index first, const SparseVectors& vectors,
                 const Array<double>& biases, double offset, int want, py::array& out,
                 bool in_double, int n_threads) {
    require_threads(n_threads);
    require_first(first);
    vectors.require_valid();
    require_aligned(biases);
    const Index n_rows = sparse_count(indptr), n = vectors.count();
    require(biases.size() == n, "the components do not fit together");
    std::vector<std::int32_t> members(static_cast<std::size_t>(n));
    for (Index k = 0; k < n; ++k) members[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(k);
    const SparseComponents components{vectors.indptr.data(), vectors.indices.data(),
                                      vectors.values.data(), biases.data(), n, vectors.n_features,
                                      members.data(), n};
    const std::int32_t assignment = hard;
    Scorers scorers{};
    scorers.n_components = n;
    scorers.n_groups = 1;
    scorers.assignments = &assignment;
    scorers.offsets = &offset;
    const RowMap map = map_of(scorers, n_rows, want, out);
    const auto kernel = [&](const auto& rows, auto product) {
        using P = decltype(product);
        run_kernel([&](Pulse& pulse) {
            return SPHEREMIX_CALL(map_by_columns<P>, rows, components, scorers, map, n_threads,
                                  pulse);
        });
    };
    with_sparse(indptr, indices, data, scale, first, in_double, List(), kernel);
}

// The sums of the rows by owner as (vectors, mass).
py::tuple sum_columns(const py::array& indptr, const py::array& indices, const py::array& data,
                      const Array<double>& scale, const Array<std::int32_t>& owners,
                      const py::object& weights, Index n_components, Index n_features,
                      int n_threads) {
    require_threads(n_threads);
    require_aligned(owners);
    const Index n_rows = sparse_count(indptr);
    require(n_components > 0 && n_components < most_vectors && n_features > 0 &&
                n_features < (Index{1} << 31),
            "n_components must be from 1 to 2**30 - 1, and n_features from 1 to 2**31 - 1");
    require(owners.size() == n_rows, "the owners do not fit the rows");
    RowsOfOwners owned;
    owned.n_features = n_features;
    owned.weights = numbers_or_null(weights, n_rows);
    const auto counts_for = [&](Index i) { return !owned.weights || owned.weights[i] != 0.0; };
    owned.starts.assign(static_cast<std::size_t>(n_components) + 1, 0);
    for (Index i = 0; i < n_rows; ++i) {
        require(owners.data()[i] >= 0 && owners.data()[i] < n_components,
                "there is no such component");
        owned.starts[owners.data()[i] + 1] += counts_for(i);
    }
    for (Index k = 0; k < n_components; ++k) owned.starts[k + 1] += owned.starts[k];
    owned.order.resize(static_cast<std::size_t>(owned.starts.back()));
    std::vector<Index> next(owned.starts);
    for (Index i = 0; i < n_rows; ++i)
        if (counts_for(i)) owned.order[next[owners.data()[i]]++] = i;

    Array<Index> starts(n_components + 1);
    Array<double> mass(n_components);
    Index* ends = starts.mutable_data();
    const auto run = [&](Index* counts, const SparseSums& sums) {
        with_sparse(indptr, indices, data, scale, 0, true, List(), [&](const auto& rows, auto) {
            run_kernel([&](Pulse& pulse) {
                return SPHEREMIX_CALL(sum_by_owner, rows, owned, counts, sums, n_threads, pulse);
            });
        });
    };
    ends[0] = 0;
    run(ends + 1, {});
    for (Index k = 0; k < n_components; ++k) ends[k + 1] += ends[k];
    Array<std::int32_t> columns(ends[n_components]);
    Array<double> values(ends[n_components]);
    run(nullptr, {ends, columns.mutable_data(), values.mutable_data(), mass.mutable_data()});
    return py::make_tuple(SparseVectors{starts, columns, values, n_features}, mass);
}

// Products of vectors one by one: sums over the columns that both have, in their order.
Array<double> sparse_dots(const SparseVectors& a, const SparseVectors& b) {
    a.require_pointers();
    b.require_pointers();
    require(a.count() == b.count() && a.n_features == b.n_features, "shapes do not agree");
    Array<double> out(a.count());
    for (Index k = 0; k < a.count(); ++k) {
        double total = 0.0;
        Index p = a.begin(k), q = b.begin(k);
        while (p < a.end(k) && q < b.end(k)) {
            const std::int32_t i = a.indices.data()[p], j = b.indices.data()[q];
            if (i == j) total += a.values.data()[p] * b.values.data()[q];
            p += i <= j;
            q += j <= i;
        }
        out.mutable_data()[k] = total;
    }
    return out;
}

// Which vectors differ in a bit.
Array<bool> sparse_differ(const SparseVectors& a, const SparseVectors& b) {
    a.require_pointers();
    b.require_pointers();
    require(a.count() == b.count() && a.n_features == b.n_features, "shapes do not agree");
    Array<bool> out(a.count());
    for (Index k = 0; k < a.count(); ++k) {
        const Index p = a.begin(k), q = b.begin(k), n = a.end(k) - p;
        const auto size = static_cast<std::size_t>(n);
        out.mutable_data()[k] =
            b.end(k) - q != n ||
            std::memcmp(a.indices.data() + p, b.indices.data() + q, 4 * size) != 0 ||
            std::memcmp(a.values.data() + p, b.values.data() + q, 8 * size) != 0;
    }
    return out;
}

}  // namespace

void bind_columns(py::module_& m) {
    py::class_<SparseVectors>(m, "SparseVectors", py::module_local(),
                              "Vectors in CSR form: indptr, indices that increase, and values.")
        .def(py::init(&checked), py::arg("indptr").noconvert(), py::arg("indices").noconvert(),
             py::arg("values").noconvert(), py::arg("n_features"))
        .def_readonly("indptr", &SparseVectors::indptr)
        .def_readonly("indices", &SparseVectors::indices)
        .def_readonly("values", &SparseVectors::values)
        .def_readonly("n_features", &SparseVectors::n_features);
    m.def("sweep_columns", &sweep_columns,
          "Score the members among sparse components for CSR rows; bring their owners, the scores "
          "of these and the bounds of all others up to date: see csrc/sweep_task.hpp.",
          py::arg("indptr"), py::arg("indices"), py::arg("data"), py::arg("scale").noconvert(),
          py::arg("vectors"), py::arg("biases").noconvert(), py::arg("members").noconvert(),
          py::arg("rows"), py::arg("owners").noconvert(), py::arg("scores").noconvert(),
          py::arg("seconds").noconvert(), py::arg("open").noconvert(), py::arg("pulls"),
          py::arg("weights"), py::arg("in_double"), py::arg("n_threads"));
    m.def("map_columns", &map_columns,
          "Give row by row what sparse components say of CSR rows; no labels are drawn.",
          py::arg("indptr"), py::arg("indices"), py::arg("data"), py::arg("scale").noconvert(),
          py::arg("first_row"), py::arg("vectors"), py::arg("biases").noconvert(),
          py::arg("offset"), py::arg("want"), py::arg("out"), py::arg("in_double"),
          py::arg("n_threads"));
    m.def("sum_columns", &sum_columns, "Sum CSR rows by owner, in row order: (vectors, mass).",
          py::arg("indptr"), py::arg("indices"), py::arg("data"), py::arg("scale").noconvert(),
          py::arg("owners").noconvert(), py::arg("weights"), py::arg("n_components"),
          py::arg("n_features"), py::arg("n_threads"));
    m.def("sparse_dots", &sparse_dots, "Products of sparse vectors one by one.");
    m.def("sparse_differ", &sparse_differ, "Which sparse vectors differ in a bit.");
}

}  // namespace spheremix
