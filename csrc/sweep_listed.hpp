// Sums of listed rows whose components are known: no scores are computed. Rows are added component
// by component, in the order of the list, so that the bits do not depend on threads.
// Included once per instruction set, inside its namespace.

template <class Rows>
struct ListedSums {
    Rows rows;
    const Listed* listed;
    Sums sums;
    std::int64_t n_features = 0;
    Pulse* pulse;
    std::vector<std::int64_t> starts;   // of each component in order
    std::vector<std::int64_t> order;    // places in the list, sorted by component
};

// INOUT vector: factor times the i-th row is added.
template <class T, class I>
static bool add_row(const SparseRows<T, I>& rows, std::int64_t i, double factor, std::int64_t d,
                    double* vector) {
    if (!in_columns(rows, i, i + 1, d)) return false;
    const std::int64_t from = rows.begin(i);
    scatter_row(rows.indices + from, rows.data + from, rows.end(i) - from, factor, vector);
    return true;
}

template <class T>
static bool add_row(const DenseRows<T>& rows, std::int64_t i, double factor, std::int64_t d,
                    double* __restrict vector) {
    const T* from = rows.data + rows.row(i) * rows.row_stride;
    if (rows.column_stride == 1)
        for (std::int64_t j = 0; j < d; ++j) vector[j] += factor * static_cast<double>(from[j]);
    else
        for (std::int64_t j = 0; j < d; ++j)
            vector[j] += factor * static_cast<double>(from[j * rows.column_stride]);
    return true;
}

template <class Rows>
static void listed_task(void* context, std::int64_t k, int thread) {
    auto& job = *static_cast<ListedSums<Rows>*>(context);
    for (std::int64_t p = job.starts[k]; p < job.starts[k + 1]; ++p) {
        if (job.pulse->stop(thread)) return;
        const std::int64_t i = job.order[p];
        const double factor = job.listed->factors[i];
        job.sums.mass[k] += factor;
        if (!add_row(job.rows, i, factor * job.rows.scale[job.rows.row(i)], job.n_features,
                     job.sums.vectors + k * job.n_features))
            job.pulse->invalidate();
    }
}

// INOUT sums: the rows of the list, times their factors. Returns false when interrupted.
template <class Rows>
static bool add_listed(const Rows& rows, const Listed& listed, std::int64_t n_components,
                       std::int64_t n_features, const Sums& sums, int n_threads, Pulse& pulse) {
    ListedSums<Rows> job;
    job.rows = rows;
    job.listed = &listed;
    job.sums = sums;
    job.n_features = n_features;
    job.pulse = &pulse;
    job.starts.assign(static_cast<std::size_t>(n_components) + 1, 0);
    for (std::int64_t i = 0; i < rows.n; ++i) ++job.starts[listed.owners[i] + 1];
    for (std::int64_t k = 0; k < n_components; ++k) job.starts[k + 1] += job.starts[k];
    job.order.resize(static_cast<std::size_t>(rows.n));
    std::vector<std::int64_t> next(job.starts);
    for (std::int64_t i = 0; i < rows.n; ++i) job.order[next[listed.owners[i]]++] = i;
    Pool::instance().run(n_components, rows.n < 256 ? 1 : n_threads, listed_task<Rows>, &job);
    return !pulse.stopped();
}
