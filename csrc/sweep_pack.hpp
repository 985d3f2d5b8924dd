// Between the (components, features) layout of Python and the feature-major ones of the kernels.
// Included once per instruction set, inside its namespace.

// The matrix of the scorers, feature-major in panels of up to N vectors of components, so that
// a feature touches one contiguous run. Columns without any non-zero may be left out.
template <class T, int N>
struct Panels {
    using Scalar = T;
    using V = typename Vectors<T>::Full;
    static constexpr std::int64_t widest = N * V::width;
    Buffer<T> memory;
    Buffer<std::int32_t> column;   // feature -> place in a panel, -1: left out; when compact
    Buffer<double> biases;         // padded with zeros
    bool compact = false;
    std::int64_t n_columns = 0;    // places in a panel
    std::int64_t n_components = 0;

    std::int64_t count() const { return (n_components + widest - 1) / widest; }
    std::int64_t begin(std::int64_t panel) const { return panel * widest; }
    std::int64_t components(std::int64_t panel) const {
        return std::min(widest, n_components - begin(panel));
    }
    bool half(std::int64_t panel) const { return components(panel) <= V::width / 2; }
    std::int64_t width(std::int64_t panel) const {
        const std::int64_t n = components(panel);
        if (half(panel)) return Vectors<T>::Half::width;
        return (n + V::width - 1) / V::width * V::width;
    }
    T* base(std::int64_t panel) const { return memory.get() + panel * widest * n_columns; }
    // Room for the products of one row, in whole vectors of either type.
    std::int64_t stride() const { return (n_components + 15) / 16 * 16; }
};

static constexpr std::int64_t pack_block = 64;     // features at a time: their panels stay in cache
static constexpr std::int64_t pack_grain = 1024;   // features a task

template <class P>
struct PackJob {
    const Scorers* scorers;
    P* panels;
    Buffer<unsigned char> used;     // (n_features,)
    Buffer<std::int64_t> counts;    // used columns of each task's range
};

// Bit i is set when x[i] is not zero; n <= 64.
static inline std::uint64_t nonzeros(const double* x, std::int64_t n) {
    using V = Doubles;
    std::uint64_t mask = 0;
    std::int64_t i = 0;
    for (; i + V::width <= n; i += V::width)
        mask |= static_cast<std::uint64_t>(V::nonzero(V::load(x + i))) << i;
    for (; i < n; ++i) mask |= static_cast<std::uint64_t>(x[i] != 0.0) << i;
    return mask;
}

// Which columns have a non-zero; a dense matrix is known to be so after its first rows.
template <class P>
static void find_used(void* context, std::int64_t task, int) {
    auto& job = *static_cast<PackJob<P>*>(context);
    const std::int64_t d = job.scorers->n_features, n = job.scorers->n_components;
    const std::int64_t from = task * pack_grain, to = std::min(d, from + pack_grain);
    std::int64_t total = 0;
    for (std::int64_t c = from; c < to; c += 64) {
        const std::int64_t size = std::min<std::int64_t>(64, to - c);
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - size);
        std::uint64_t found = 0;
        for (std::int64_t k = 0; k < n && found != all; ++k)
            found |= nonzeros(job.scorers->matrix + k * d + c, size);
        for (std::int64_t i = 0; i < size; ++i) {
            job.used[c + i] = static_cast<unsigned char>(found >> i & 1u);
            total += job.used[c + i];
        }
    }
    job.counts[task] = total;
}

// OUT out: (n_columns, width) from rows (n_rows, n_columns), padded with zeros to width.
template <class T>
static void turn(const double* rows, std::int64_t row_stride, std::int64_t n_rows,
                 std::int64_t n_columns, T* out, std::int64_t width) {
    using V = Doubles;
    std::int64_t k = 0;
    for (; k + V::width <= width; k += V::width) {
        const std::int64_t real = std::min<std::int64_t>(V::width, n_rows - k);
        std::int64_t c = 0;
        for (; c + V::width <= n_columns; c += V::width) {
            V::Reg r[V::width];
            for (int i = 0; i < V::width; ++i)
                r[i] = i < real ? V::load(rows + (k + i) * row_stride + c) : V::set1(0.0);
            V::transpose(r);
            for (int i = 0; i < V::width; ++i) V::store(out + (c + i) * width + k, r[i]);
        }
        for (; c < n_columns; ++c)
            for (int i = 0; i < V::width; ++i)
                out[c * width + k + i] =
                    i < real ? static_cast<T>(rows[(k + i) * row_stride + c]) : T(0);
    }
    for (; k < width; ++k)
        for (std::int64_t c = 0; c < n_columns; ++c)
            out[c * width + k] = k < n_rows ? static_cast<T>(rows[k * row_stride + c]) : T(0);
}

// OUT rows: (n_rows, n_columns) from tile (n_columns, width): the way back.
static void turn_back(const double* tile, std::int64_t width, std::int64_t n_rows,
                      std::int64_t n_columns, double* rows, std::int64_t row_stride) {
    using V = Doubles;
    for (std::int64_t k = 0; k < n_rows; k += V::width) {
        const int real = static_cast<int>(std::min<std::int64_t>(V::width, n_rows - k));
        std::int64_t c = 0;
        for (; c + V::width <= n_columns; c += V::width) {
            V::Reg r[V::width];
            for (int i = 0; i < V::width; ++i) r[i] = V::load(tile + (c + i) * width + k);
            V::transpose(r);
            for (int i = 0; i < real; ++i) V::store(rows + (k + i) * row_stride + c, r[i]);
        }
        for (; c < n_columns; ++c)
            for (int i = 0; i < real; ++i) rows[(k + i) * row_stride + c] = tile[c * width + k + i];
    }
}

template <class P>
static void fill_panels(void* context, std::int64_t task, int) {
    auto& job = *static_cast<PackJob<P>*>(context);
    using T = typename P::Scalar;
    P& panels = *job.panels;
    const std::int64_t d = job.scorers->n_features;
    const std::int64_t from = task * pack_grain, to = std::min(d, from + pack_grain);
    std::int64_t place = panels.compact ? job.counts[task] : 0;
    if (panels.compact)
        for (std::int64_t c = from; c < to; ++c)
            panels.column[c] = job.used[c] ? static_cast<std::int32_t>(place++) : -1;
    for (std::int64_t p = 0; p < panels.count(); ++p) {
        const std::int64_t width = panels.width(p), n = panels.components(p);
        T* base = panels.base(p);
        const double* matrix = job.scorers->matrix + panels.begin(p) * d;
        for (std::int64_t c = from; c < to; c += pack_block) {
            const std::int64_t end = std::min(to, c + pack_block);
            if (panels.compact) {
                for (std::int64_t i = c; i < end; ++i) {
                    if (panels.column[i] < 0) continue;
                    T* out = base + panels.column[i] * width;
                    for (std::int64_t k = 0; k < n; ++k) out[k] = static_cast<T>(matrix[k * d + i]);
                    for (std::int64_t k = n; k < width; ++k) out[k] = T(0);
                }
                continue;
            }
            turn(matrix + c, d, n, end - c, base + c * width, width);
        }
    }
}

// OUT panels: from the matrix and biases of the scorers.
template <class P>
static void pack(const Scorers& scorers, P& panels, bool may_leave_out, int n_threads) {
    const std::int64_t d = scorers.n_features, n = scorers.n_components;
    const std::int64_t n_tasks = (d + pack_grain - 1) / pack_grain;
    PackJob<P> job;
    job.scorers = &scorers;
    job.panels = &panels;
    panels.n_components = n;
    panels.n_columns = d;
    if (scorers.complete) return;  // nothing is multiplied
    if (may_leave_out && d < std::numeric_limits<std::int32_t>::max()) {
        job.used.resize(d);
        job.counts.resize(n_tasks);
        Pool::instance().run(n_tasks, n_threads, find_used<P>, &job);
        std::int64_t total = 0;
        for (std::int64_t t = 0; t < n_tasks; ++t) {
            const std::int64_t count = job.counts[t];
            job.counts[t] = total;
            total += count;
        }
        panels.compact = total < d - d / 8;
        if (panels.compact) {
            panels.n_columns = std::max<std::int64_t>(total, 1);
            panels.column.resize(d);
        }
    }
    panels.memory.resize(panels.count() * P::widest * panels.n_columns);
    if (panels.compact) std::fill_n(panels.memory.get(), P::widest, typename P::Scalar(0));
    panels.biases.resize(panels.stride());
    std::fill_n(panels.biases.get(), panels.stride(), 0.0);
    std::copy_n(scorers.biases, n, panels.biases.get());
    Pool::instance().run(n_tasks, n_threads, fill_panels<P>, &job);
}

// The sums of vectors, feature-major in panels of up to four vectors of components. The width only
// decides how the work is shared out, never the sums.
struct SumPanels {
    std::int64_t widest = 0;  // components of a panel, the last one perhaps narrower
    Buffer<double> memory;
    std::int64_t n_components = 0, n_features = 0;
    double* vectors = nullptr;   // (n_components, n_features)
    bool back = false;

    std::int64_t count() const { return (n_components + widest - 1) / widest; }
    std::int64_t components(std::int64_t panel) const {
        return std::min(widest, n_components - panel * widest);
    }
    std::int64_t width(std::int64_t panel) const {
        return (components(panel) + Doubles::width - 1) / Doubles::width * Doubles::width;
    }
    double* base(std::int64_t panel) const { return memory.get() + panel * widest * n_features; }
};

static void transpose_task(void* context, std::int64_t task, int) {
    auto& sums = *static_cast<SumPanels*>(context);
    const std::int64_t d = sums.n_features;
    const std::int64_t from = task * pack_grain, to = std::min(d, from + pack_grain);
    for (std::int64_t p = 0; p < sums.count(); ++p) {
        const std::int64_t width = sums.width(p), n = sums.components(p);
        double* vectors = sums.vectors + p * sums.widest * d;
        for (std::int64_t c = from; c < to; c += pack_block) {
            const std::int64_t end = std::min(to, c + pack_block);
            double* tile = sums.base(p) + c * width;
            if (sums.back)
                turn_back(tile, width, n, end - c, vectors + c, d);
            else
                turn(vectors + c, d, n, end - c, tile, width);
        }
    }
}

// back: from the panels to vectors; otherwise from vectors to the panels.
static void transpose(SumPanels& sums, bool back, int n_threads) {
    sums.back = back;
    sums.memory.resize(sums.count() * sums.widest * sums.n_features);
    Pool::instance().run((sums.n_features + pack_grain - 1) / pack_grain, n_threads, transpose_task,
                         &sums);
}
