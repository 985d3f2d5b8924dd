// The sweep over sparse rows, tile by tile, and what is said row by row. A tile has two phases:
// first the rows' scores and posteriors, row by row; then the sums, each element owned by one task
// and fed in row order. So the bits depend neither on threads nor on tiles, nor on which of the two
// layouts of the sums is used: the vectors as Python has them, one task a component, or panels of
// components, one task a panel. Included once per instruction set, inside its namespace.

// ------------------------------------------------------------------ the inner loops over non-zeros

// Non-zeros between a call for memory and its use: measured, and flat around it.
static constexpr std::int64_t ahead = 12;

// Rows handed to the product: those of X, or those of X with the empty columns left out.
template <class T, class I>
struct RowList {
    const I* indptr;
    const I* indices;
    const T* data;
    std::int64_t begin, end;   // rows
    std::int64_t safe;         // indices may be read up to here
    const std::int64_t* list;  // null, or the rows that begin .. end - 1 stand for

    std::int64_t from(std::int64_t row) const { return indptr[list ? list[row] : row]; }
    std::int64_t to(std::int64_t row) const { return indptr[(list ? list[row] : row) + 1]; }
};

static inline void prefetch(const void* p) {
#if SPHEREMIX_GNU
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

// All lines of a run of Bytes, the number `at` of those that begin at p. Rows that come later were
// not looked at yet: a number outside is an address that nobody reads.
template <std::int64_t Bytes>
static inline void prefetch_run(const void* p, std::int64_t at) {
    const std::uintptr_t run = reinterpret_cast<std::uintptr_t>(p) +
                               static_cast<std::uintptr_t>(at) * static_cast<std::uintptr_t>(Bytes);
    for (std::int64_t line = 0; line < Bytes; line += 64)
        prefetch(reinterpret_cast<const char*>(run + static_cast<std::uintptr_t>(line)));
}

// INOUT sum: adds the products of the non-zeros [from, to) with one panel of N vectors, in one chain
// of additions in the order of the columns: leaving out columns of zeros, or stacking more
// components, changes no bit.
template <class V, int N, class P, class T, class I>
static inline void add_products(const RowList<T, I>& rows, const P* __restrict panel,
                                std::int64_t from, std::int64_t to, std::int64_t look,
                                typename V::Reg (&sum)[N]) {
    constexpr std::int64_t width = N * V::width;
    for (std::int64_t p = from; p < to; ++p) {
        prefetch_run<width * static_cast<std::int64_t>(sizeof(P))>(panel, rows.indices[p + look]);
        const P* m = panel + static_cast<std::int64_t>(rows.indices[p]) * width;
        const typename V::Reg x = V::set1(static_cast<P>(rows.data[p]));
        for (int v = 0; v < N; ++v) sum[v] = V::fma(x, V::load(m + v * V::width), sum[v]);
    }
}

// OUT products[(row - begin) * stride + ..]: the products of rows with one panel of one vector, four
// rows at a time: the chain of additions of a single row would wait for itself. (With wider panels
// memory is what one waits for, and this gains nothing.)
template <class V, class P, class T, class I>
static void multiply_narrow(const RowList<T, I>& rows, const P* __restrict panel,
                            P* __restrict products, std::int64_t stride) {
    constexpr int together = 4;
    for (std::int64_t row = rows.begin; row < rows.end; row += together) {
        const int n = static_cast<int>(std::min<std::int64_t>(together, rows.end - row));
        typename V::Reg sum[together][1];
        std::int64_t at[together], shortest = std::numeric_limits<std::int64_t>::max();
        for (int r = 0; r < together; ++r) {
            const std::int64_t of = row + std::min(r, n - 1);  // a short group repeats its last row
            at[r] = rows.from(of);
            shortest = std::min(shortest, rows.to(of) - rows.from(of));
            sum[r][0] = V::set1(P(0));
        }
        for (std::int64_t i = 0; i < shortest; ++i)
            for (int r = 0; r < together; ++r) {
                const P* m = panel + static_cast<std::int64_t>(rows.indices[at[r] + i]) * V::width;
                const P x = static_cast<P>(rows.data[at[r] + i]);
                sum[r][0] = V::fma(V::set1(x), V::load(m), sum[r][0]);
            }
        for (int r = 0; r < n; ++r) {
            add_products<V, 1>(rows, panel, at[r] + shortest, rows.to(row + r), 0, sum[r]);
            V::store(products + (row + r - rows.begin) * stride, sum[r][0]);
        }
    }
}

// OUT products[(row - begin) * stride + ..]: the products of rows with one panel of N vectors.
template <class V, int N, class P, class T, class I>
static void multiply(const RowList<T, I>& rows, const P* __restrict panel, P* __restrict products,
                     std::int64_t stride) {
    if constexpr (N == 1) {
        multiply_narrow<V>(rows, panel, products, stride);
        return;
    }
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        typename V::Reg sum[N];
        for (int v = 0; v < N; ++v) sum[v] = V::set1(P(0));
        const std::int64_t from = rows.from(row), to = rows.to(row);
        const std::int64_t look = to + ahead <= rows.safe ? ahead : 0;
        add_products<V, N>(rows, panel, from, to, look, sum);
        P* out = products + (row - rows.begin) * stride;
        for (int v = 0; v < N; ++v) V::store(out + v * V::width, sum[v]);
    }
}

template <class P, class T, class I>
static void multiply_all(const RowList<T, I>& rows, const Panels<P, 4>& panels, P* products) {
    using Full = typename Vectors<P>::Full;
    using Half = typename Vectors<P>::Half;
    const std::int64_t stride = panels.stride();
    for (std::int64_t p = 0; p < panels.count(); ++p) {
        P* out = products + panels.begin(p);
        const P* base = panels.base(p);
        if (panels.half(p))
            multiply<Half, 1>(rows, base, out, stride);
        else if (panels.width(p) == Full::width)
            multiply<Full, 1>(rows, base, out, stride);
        else if (panels.width(p) == 2 * Full::width)
            multiply<Full, 2>(rows, base, out, stride);
        else if (panels.width(p) == 3 * Full::width)
            multiply<Full, 3>(rows, base, out, stride);
        else
            multiply<Full, 4>(rows, base, out, stride);
    }
}

// INOUT sum: sum[indices[p]] += factor * data[p]. The indices of a row are distinct.
template <class T, class I>
static inline void scatter_row(const I* __restrict indices, const T* __restrict data,
                               std::int64_t n, double factor, double* __restrict sum) {
    std::int64_t p = 0;
    for (; p + 4 <= n; p += 4) {
        double* a = sum + indices[p];
        double* b = sum + indices[p + 1];
        double* c = sum + indices[p + 2];
        double* d = sum + indices[p + 3];
        const double ra = fused(factor, static_cast<double>(data[p]), *a);
        const double rb = fused(factor, static_cast<double>(data[p + 1]), *b);
        const double rc = fused(factor, static_cast<double>(data[p + 2]), *c);
        const double rd = fused(factor, static_cast<double>(data[p + 3]), *d);
        *a = ra;
        *b = rb;
        *c = rc;
        *d = rd;
    }
    for (; p < n; ++p) {
        double* a = sum + indices[p];
        *a = fused(factor, static_cast<double>(data[p]), *a);
    }
}

// INOUT sums: (n_features, N vectors): sums[indices[p]] += factors * data[p]. Indices may be read
// up to `readable`.
template <int N, class T, class I>
static inline void scatter_row_tile(const I* __restrict indices, const T* __restrict data,
                                    std::int64_t n, std::int64_t readable,
                                    const Doubles::Reg* factors, double* __restrict sums) {
    using V = Doubles;
    constexpr std::int64_t width = N * V::width;
    const std::int64_t look = n + ahead <= readable ? ahead : 0;
    for (std::int64_t p = 0; p < n; ++p) {
        prefetch_run<8 * width>(sums, indices[p + look]);
        double* r = sums + static_cast<std::int64_t>(indices[p]) * width;
        const V::Reg x = V::set1(static_cast<double>(data[p]));
        for (int v = 0; v < N; ++v)
            V::store(r + v * V::width, V::fma(factors[v], x, V::load(r + v * V::width)));
    }
}

// ------------------------------------------------------------------------ the two phases of a tile

static constexpr std::int64_t chunk_rows = 64;          // rows a scoring task
static constexpr std::int64_t compact_limit = 1 << 16;  // non-zeros compacted at a time

struct Entry {
    double value;        // posterior times weight
    std::int32_t row;    // in the tile
};

// What the first phase leaves for the second.
struct Tile {
    std::int64_t begin = 0, end = 0;       // rows
    Buffer<Entry> entries;                 // by chunk, sorted by component
    Buffer<std::int32_t> starts;           // (chunks, n_components + 1)
    Buffer<double> factors;                // (rows, padded components), for the panels of sums
    Buffer<double> totals;                 // (rows, n_groups, 2)
    std::int64_t n_chunks() const { return (end - begin + chunk_rows - 1) / chunk_rows; }
};

// What a thread needs for itself. Entries of rows are of type T, products of type P.
template <class T, class P, class I>
struct Scratch {
    Buffer<P> products;
    Buffer<double> s, e, value;
    Buffer<std::int32_t> component;
    Buffer<Entry> entries;             // of a chunk, in row order
    Buffer<std::int32_t> entry_component;
    Buffer<Entry> listed;              // of a component in a tile
    Buffer<T> data;                    // rows without the columns that are left out
    Buffer<I> indices;
    Buffer<I> indptr;
};

template <class T, class P, class I>
struct SparseSweep {
    SparseRows<T, I> rows;
    const Scorers* scorers;
    Sums sums;
    const RowMap* map = nullptr;
    Pulse* pulse;
    Panels<P, 4> panels;
    std::vector<Scratch<T, P, I>> scratch;
    bool by_panel = false;             // layout of the sums
    SumPanels sum_panels;
    std::int64_t factor_stride = 0;
    Tile tiles[2];
    Tile* scoring = nullptr;           // tile whose rows are being scored
    Tile* summing = nullptr;           // tile whose sums are being taken: the one before
    std::int64_t n_summing = 0;        // tasks of the second phase, which come first
};

template <class T, class P, class I>
static void prepare(SparseSweep<T, P, I>& sweep, int n_threads) {
    const std::int64_t n = sweep.scorers->n_components, padded = sweep.panels.stride();
    std::int64_t longest = 0;
    if (sweep.panels.compact)
        for (std::int64_t i = 0; i < sweep.rows.n; ++i)
            longest = std::max(longest, sweep.rows.end(i) - sweep.rows.begin(i));
    sweep.scratch = std::vector<Scratch<T, P, I>>(static_cast<std::size_t>(n_threads));
    for (auto& own : sweep.scratch) {
        own.products.resize(chunk_rows * padded);
        std::fill_n(own.products.get(), chunk_rows * padded, P(0));
        own.s.resize(padded);
        own.e.resize(padded);
        own.value.resize(padded + 16);
        own.component.resize(padded + 16);
        if (!sweep.map) {
            own.entries.resize(chunk_rows * n);
            own.entry_component.resize(chunk_rows * n);
        }
        if (sweep.panels.compact) {
            own.data.resize(compact_limit + longest);
            own.indices.resize(compact_limit + longest + 16);
            own.indptr.resize(chunk_rows + 1);
        }
    }
}

// Whether all indices of rows begin .. end-1 are columns. They were when the rows were opened, but
// the user may have changed them since. It costs little: they are about to be read anyway.
template <class T, class I>
static bool in_columns(const SparseRows<T, I>& rows, std::int64_t begin, std::int64_t end,
                       std::int64_t n_features) {
    using U = typename std::make_unsigned<I>::type;
    const U bound = static_cast<U>(n_features);
    U outside = 0;
    for (std::int64_t row = begin; row < end; ++row)
        for (std::int64_t p = rows.begin(row); p < rows.end(row); ++p)
            outside |= static_cast<U>(static_cast<U>(rows.indices[p]) >= bound);
    return outside == 0;
}

// The products of rows begin .. end-1 (a chunk at most) with all components, into own.products.
template <class T, class P, class I>
static void multiply_rows(const SparseSweep<T, P, I>& sweep, Scratch<T, P, I>& own,
                          std::int64_t begin, std::int64_t end) {
    const auto& rows = sweep.rows;
    const Panels<P, 4>& panels = sweep.panels;
    if (!in_columns(rows, begin, end, sweep.scorers->n_features)) {
        sweep.pulse->invalidate();
        return;
    }
    if (sweep.scorers->complete) return;
    if (!panels.compact) {
        const RowList<T, I> list{rows.indptr, rows.indices, rows.data, begin, end,
                                 rows.stored, rows.list};
        multiply_all(list, panels, own.products.get());
        return;
    }
    for (std::int64_t row = begin; row < end;) {
        const std::int64_t from = row;
        std::int64_t size = 0;
        own.indptr[0] = 0;
        while (row < end && size < compact_limit) {
            for (std::int64_t p = rows.begin(row); p < rows.end(row); ++p) {
                const std::int32_t place = panels.column[rows.indices[p]];
                own.indices[size] = static_cast<I>(place);
                own.data[size] = rows.data[p];
                size += place >= 0;
            }
            ++row;
            own.indptr[row - from] = static_cast<I>(size);
        }
        const RowList<T, I> list{own.indptr.get(), own.indices.get(), own.data.get(), 0, row - from,
                                 size, nullptr};
        multiply_all(list, panels, own.products.get() + (from - begin) * panels.stride());
    }
}

// First phase for one chunk of the tile.
template <class T, class P, class I>
static void score_chunk(SparseSweep<T, P, I>& sweep, Scratch<T, P, I>& own, Tile& tile,
                        std::int64_t chunk) {
    const Scorers& scorers = *sweep.scorers;
    const std::int64_t n = scorers.n_components, stride = sweep.panels.stride();
    const std::int64_t begin = tile.begin + chunk * chunk_rows;
    const std::int64_t end = std::min(tile.end, begin + chunk_rows);
    multiply_rows(sweep, own, begin, end);
    std::int32_t* starts = tile.starts.get() + chunk * (n + 1);
    if (!sweep.by_panel) std::fill_n(starts, n + 1, 0);
    std::int64_t size = 0;
    Shares shares{own.component.get(), own.value.get(), 0, nullptr};
    for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t at = row - tile.begin;
        if (sweep.by_panel) {
            shares.dense = tile.factors.get() + at * sweep.factor_stride;
            std::fill_n(shares.dense, sweep.factor_stride, 0.0);
        }
        const std::int64_t id = sweep.rows.row(row);
        score_row(scorers, row, own.products.get() + (row - begin) * stride, sweep.rows.scale[id],
                  sweep.panels.biases.get(), own.s.get(), true);
        assign_row(scorers, id, static_cast<std::uint64_t>(sweep.rows.first + id), own.s.get(),
                   own.e.get(), shares, tile.totals.get() + at * scorers.n_groups * 2);
        for (std::int64_t i = 0; i < shares.size; ++i, ++size) {
            own.entries[size] = {shares.value[i], static_cast<std::int32_t>(at)};
            own.entry_component[size] = shares.component[i];
            ++starts[shares.component[i] + 1];
        }
    }
    if (sweep.by_panel) return;
    // Counting sort: starts[k] ends as the end of component k's entries, then moves back to begin.
    for (std::int64_t k = 0; k < n; ++k) starts[k + 1] += starts[k];
    Entry* sorted = tile.entries.get() + chunk * chunk_rows * n;
    for (std::int64_t i = 0; i < size; ++i)
        sorted[starts[own.entry_component[i]]++] = own.entries[i];
    for (std::int64_t k = n; k > 0; --k) starts[k] = starts[k - 1];
    starts[0] = 0;
}

// Second phase for one component. Its rows lie far apart: they are called for in advance.
template <class T, class P, class I>
static void sum_component(const SparseSweep<T, P, I>& sweep, Scratch<T, P, I>& own,
                          const Tile& tile, std::int64_t k) {
    const std::int64_t n = sweep.scorers->n_components;
    Entry* entries = own.listed.get();
    std::int64_t size = 0;
    for (std::int64_t chunk = 0; chunk < tile.n_chunks(); ++chunk) {
        const std::int32_t* starts = tile.starts.get() + chunk * (n + 1);
        const Entry* from = tile.entries.get() + chunk * chunk_rows * n;
        for (std::int32_t i = starts[k]; i < starts[k + 1]; ++i) entries[size++] = from[i];
    }
    const auto& rows = sweep.rows;
    const I* indices = sweep.rows.indices;
    const T* data = sweep.rows.data;
    double* vector = sweep.sums.vectors + k * sweep.scorers->n_features;
    double mass = sweep.sums.mass[k];
    constexpr std::int64_t far = 4;
    for (std::int64_t i = 0; i < size; ++i) {
        if (i + far < size) {
            const std::int64_t from = rows.begin(tile.begin + entries[i + far].row);
            const std::int64_t to = rows.end(tile.begin + entries[i + far].row);
            for (std::int64_t p = from; p < to; p += 64 / sizeof(I)) prefetch(indices + p);
            for (std::int64_t p = from; p < to; p += 64 / sizeof(T)) prefetch(data + p);
        }
        const std::int64_t row = tile.begin + entries[i].row, from = rows.begin(row);
        mass += entries[i].value;
        scatter_row(indices + from, data + from, rows.end(row) - from,
                    entries[i].value * rows.scale[rows.row(row)], vector);
    }
    sweep.sums.mass[k] = mass;
}

// Second phase for one panel of N vectors of components.
template <int N, class T, class P, class I>
static void sum_panel(const SparseSweep<T, P, I>& sweep, const Tile& tile, std::int64_t panel) {
    using V = Doubles;
    const std::int64_t k = panel * sweep.sum_panels.widest;
    const auto& rows = sweep.rows;
    double* sums = sweep.sum_panels.base(panel);
    for (std::int64_t row = tile.begin; row < tile.end; ++row) {
        const double* factors = tile.factors.get() + (row - tile.begin) * sweep.factor_stride + k;
        const V::Reg scale = V::set1(rows.scale[rows.row(row)]);
        V::Reg scaled[N];
        unsigned any = 0;
        for (int v = 0; v < N; ++v) {
            const V::Reg f = V::load(factors + v * V::width);
            scaled[v] = f * scale;
            any |= V::nonzero(f);
        }
        if (!any) continue;
        const std::int64_t from = rows.begin(row);
        scatter_row_tile<N>(rows.indices + from, rows.data + from, rows.end(row) - from,
                            rows.stored - from, scaled, sums);
    }
}

template <class T, class P, class I>
static void sum_panel_task(const SparseSweep<T, P, I>& sweep, const Tile& tile,
                           std::int64_t panel) {
    switch (sweep.sum_panels.width(panel) / Doubles::width) {
        case 1: return sum_panel<1>(sweep, tile, panel);
        case 2: return sum_panel<2>(sweep, tile, panel);
        case 3: return sum_panel<3>(sweep, tile, panel);
        default: return sum_panel<4>(sweep, tile, panel);
    }
}

// Masses where they are not summed with the vectors.
template <class T, class P, class I>
static void sum_masses(const SparseSweep<T, P, I>& sweep, const Tile& tile) {
    const double* factors = tile.factors.get();
    for (std::int64_t i = tile.begin; i < tile.end; ++i, factors += sweep.factor_stride)
        for (std::int64_t k = 0; k < sweep.scorers->n_components; ++k)
            sweep.sums.mass[k] += factors[k];
}

static void sum_totals(const Tile& tile, std::int64_t n_groups, double* totals) {
    const double* row = tile.totals.get();
    for (std::int64_t i = tile.begin; i < tile.end; ++i, row += 2 * n_groups)
        for (std::int64_t g = 0; g < 2 * n_groups; ++g) totals[g] += row[g];
}

// ------------------------------------------------------------------------- all tiles, and all rows

static constexpr std::int64_t tile_posteriors = 1 << 20;

// One step: the sums of the tile before, and the scores of this one, which fill the idle threads.
template <class T, class P, class I>
static void step_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<SparseSweep<T, P, I>*>(context);
    if (sweep.pulse->stop(thread)) return;
    auto& own = sweep.scratch[static_cast<std::size_t>(thread)];
    if (task >= sweep.n_summing) {
        score_chunk(sweep, own, *sweep.scoring, task - sweep.n_summing);
        return;
    }
    if (task == sweep.n_summing - 1) {
        sum_totals(*sweep.summing, sweep.scorers->n_groups, sweep.sums.totals);
        if (sweep.by_panel) sum_masses(sweep, *sweep.summing);
    } else if (sweep.by_panel) {
        sum_panel_task(sweep, *sweep.summing, task);
    } else {
        sum_component(sweep, own, *sweep.summing, task);
    }
}

// Components in play a row, from a few rows spread over all of them.
template <class T, class P, class I>
static double probe(SparseSweep<T, P, I>& sweep) {
    Scorers scorers = *sweep.scorers;
    scorers.margins = nullptr;  // nothing is left behind
    auto& own = sweep.scratch[0];
    const std::int64_t n_probes = std::min<std::int64_t>(32, (sweep.rows.n + 63) / 64);
    std::int64_t active = 0, counted = 0;
    Shares shares{own.component.get(), own.value.get(), 0, nullptr};
    Buffer<double> totals(2 * scorers.n_groups);
    for (std::int64_t i = 0; i < n_probes; ++i) {
        const std::int64_t row = i * (sweep.rows.n / n_probes);
        const std::int64_t id = sweep.rows.row(row);
        if (!scorers.any_weight(id)) continue;
        multiply_rows(sweep, own, row, row + 1);
        score_row(scorers, row, own.products.get(), sweep.rows.scale[id],
                  sweep.panels.biases.get(), own.s.get(), false);
        assign_row(scorers, id, static_cast<std::uint64_t>(sweep.rows.first + id), own.s.get(),
                   own.e.get(), shares, totals.get());
        active += shares.size;
        ++counted;
    }
    return counted ? static_cast<double>(active) / static_cast<double>(counted) : 0.0;
}

// Small problems are done before a second thread has woken up.
template <class T, class I>
static int useful_threads(const SparseRows<T, I>& rows, const Scorers& scorers, int n_threads) {
    const double nnz = static_cast<double>(rows.count());
    return nnz * static_cast<double>(scorers.n_components) < 4e5 ? 1 : n_threads;
}

// Which layout of the sums is cheaper. A vector update costs about as much as a scalar one, but
// panels must be filled and emptied.
template <class T, class P, class I>
static void choose_layout(SparseSweep<T, P, I>& sweep, int n_threads) {
    const Scorers& scorers = *sweep.scorers;
    const std::int64_t n = scorers.n_components, d = scorers.n_features;
    bool any_soft = false;
    for (std::int64_t g = 0; g < scorers.n_groups; ++g) any_soft |= scorers.assignments[g] == soft;
    if (!any_soft) return;
    const double nnz = static_cast<double>(sweep.rows.count());
    const double vectors = static_cast<double>((n + Doubles::width - 1) / Doubles::width);
    const double moves = 2.0 * static_cast<double>(n * d);
    sweep.by_panel = nnz * probe(sweep) > nnz * (0.5 + vectors) + moves;
    if (!sweep.by_panel) return;
    SumPanels& panels = sweep.sum_panels;
    panels.n_components = n;
    panels.n_features = d;
    panels.vectors = sweep.sums.vectors;
    // Wide panels read the rows less often; narrow ones keep more threads busy.
    panels.widest = (n_threads <= 2 ? 4 : n_threads <= 4 ? 2 : 1) * Doubles::width;
    sweep.factor_stride = (n + Doubles::width - 1) / Doubles::width * Doubles::width;
    transpose(panels, false, n_threads);
}

// Make room for two tiles at most. Returns the rows of a tile: enough for all threads, few enough
// for the posteriors to stay small.
template <class T, class P, class I>
static std::int64_t make_tiles(SparseSweep<T, P, I>& sweep, int n_threads) {
    const std::int64_t n = sweep.scorers->n_components;
    const std::int64_t most = std::max<std::int64_t>(1, tile_posteriors / n / chunk_rows);
    const std::int64_t needed = (sweep.rows.n + chunk_rows - 1) / chunk_rows;
    const std::int64_t chunks = std::min({std::max<std::int64_t>(16, 8 * n_threads), most, needed});
    const std::int64_t rows = chunks * chunk_rows;
    for (int t = 0; t < (rows < sweep.rows.n ? 2 : 1); ++t) {
        Tile& tile = sweep.tiles[t];
        tile.totals.resize(rows * sweep.scorers->n_groups * 2);
        if (sweep.by_panel) {
            tile.factors.resize(rows * sweep.factor_stride);
        } else {
            tile.entries.resize(rows * n);
            tile.starts.resize(chunks * (n + 1));
        }
    }
    if (!sweep.by_panel)
        for (auto& own : sweep.scratch) own.listed.resize(rows);
    return rows;
}

// INOUT sums. Products of rows and scorers are of type P. Returns false when interrupted.
template <class P, class T, class I>
static bool sparse_sweep(const SparseRows<T, I>& rows, const Scorers& scorers, const Sums& sums,
                         int n_threads, Pulse& pulse) {
    if (rows.n == 0) return true;
    n_threads = useful_threads(rows, scorers, n_threads);
    SparseSweep<T, P, I> sweep;
    sweep.rows = rows;
    sweep.scorers = &scorers;
    sweep.sums = sums;
    sweep.pulse = &pulse;
    pack(scorers, sweep.panels, true, n_threads);
    prepare(sweep, n_threads);
    choose_layout(sweep, n_threads);
    const std::int64_t tile_rows = make_tiles(sweep, n_threads);
    const std::int64_t n_tiles = (rows.n + tile_rows - 1) / tile_rows;
    const std::int64_t n_owners =
        sweep.by_panel ? sweep.sum_panels.count() : scorers.n_components;
    for (std::int64_t t = 0; t <= n_tiles && !pulse.stopped(); ++t) {
        sweep.summing = &sweep.tiles[(t + 1) % 2];
        sweep.scoring = &sweep.tiles[t % 2];
        sweep.n_summing = t > 0 ? n_owners + 1 : 0;
        std::int64_t n_tasks = sweep.n_summing;
        if (t < n_tiles) {
            sweep.scoring->begin = t * tile_rows;
            sweep.scoring->end = std::min(rows.n, (t + 1) * tile_rows);
            n_tasks += sweep.scoring->n_chunks();
        }
        Pool::instance().run(n_tasks, n_threads, step_task<T, P, I>, &sweep);
    }
    if (sweep.by_panel && !pulse.stopped()) transpose(sweep.sum_panels, true, n_threads);
    return !pulse.stopped();
}

template <class T, class P, class I>
static void map_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<SparseSweep<T, P, I>*>(context);
    if (sweep.pulse->stop(thread)) return;
    auto& own = sweep.scratch[static_cast<std::size_t>(thread)];
    const std::int64_t begin = task * chunk_rows, end = std::min(sweep.rows.n, begin + chunk_rows);
    multiply_rows(sweep, own, begin, end);
    for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t id = sweep.rows.row(row);
        score_row(*sweep.scorers, row, own.products.get() + (row - begin) * sweep.panels.stride(),
                  sweep.rows.scale[id], sweep.panels.biases.get(), own.s.get(), false);
        map_row(*sweep.scorers, row, static_cast<std::uint64_t>(sweep.rows.first + id),
                own.s.get(), own.e.get(), *sweep.map);
    }
}

// OUT map. Products are of type P. Returns false when interrupted.
template <class P, class T, class I>
static bool sparse_map(const SparseRows<T, I>& rows, const Scorers& scorers, const RowMap& map,
                       int n_threads, Pulse& pulse) {
    n_threads = useful_threads(rows, scorers, n_threads);
    SparseSweep<T, P, I> sweep;
    sweep.rows = rows;
    sweep.scorers = &scorers;
    sweep.map = &map;
    sweep.pulse = &pulse;
    pack(scorers, sweep.panels, true, n_threads);
    prepare(sweep, n_threads);
    const std::int64_t n_chunks = (rows.n + chunk_rows - 1) / chunk_rows;
    Pool::instance().run(n_chunks, n_threads, map_task<T, P, I>, &sweep);
    return !pulse.stopped();
}
