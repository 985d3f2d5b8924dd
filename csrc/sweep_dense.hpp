// The sweep over dense rows: both products of a block of rows while it is in cache. Blocks lie on a
// fixed grid of row numbers and are added to lanes in turn, so that the bits do not depend on
// threads, nor on how the rows are handed in as long as each call begins on the grid.
// Small sums have many lanes, and a thread does all the work of a block for one of them. Large sums
// have one lane: threads first assign the rows of some blocks, and then each of them adds these
// blocks, in order, to a tile of the components, which stays in its cache.
// Rows of type T are multiplied and summed in type P: where P is wider, a block is copied first.
// Included once per instruction set, inside its namespace.

// ------------------------------------------------------- the two products of a block, in registers

#undef SPHEREMIX_UNROLL
#if SPHEREMIX_GNU && !defined(__clang__)
#define SPHEREMIX_UNROLL _Pragma("GCC unroll 16")
#else
#define SPHEREMIX_UNROLL
#endif

#if SPHEREMIX_LEVEL == 2
static constexpr int panel_vectors = 3;    // vectors of components in the first product
static constexpr int sum_components = 12;  // components in the second product,
static constexpr int sum_vectors = 2;      // by vectors of features: 24 of 32 registers
static constexpr int pair_vectors = 8;
#else
static constexpr int panel_vectors = 2;
static constexpr int sum_components = 6;
static constexpr int sum_vectors = 2;
static constexpr int pair_vectors = 6;
#endif

// IN: a block of rows whose columns are contiguous. The last columns that do not fill a vector are
// in a buffer of their own, padded with zeros.
template <class T>
struct Block {
    const T* rows;
    std::int64_t stride;
    std::int64_t n;       // rows
    std::int64_t d;       // columns
    const T* tail;        // (n, vector width)
};

// OUT out[r * out_stride + ..]: the products of R rows with one panel of N vectors.
template <class V, int N, int R, class T>
static inline void multiply_tile(const T* __restrict rows, std::int64_t stride, std::int64_t d,
                                 const T* __restrict panel, T* __restrict out,
                                 std::int64_t out_stride) {
    typename V::Reg sum[R][N];
    SPHEREMIX_UNROLL
    for (int r = 0; r < R; ++r) {
        SPHEREMIX_UNROLL
        for (int v = 0; v < N; ++v) sum[r][v] = V::set1(T(0));
    }
    for (std::int64_t j = 0; j < d; ++j, panel += N * V::width) {
        typename V::Reg m[N];
        SPHEREMIX_UNROLL
        for (int v = 0; v < N; ++v) m[v] = V::load(panel + v * V::width);
        SPHEREMIX_UNROLL
        for (int r = 0; r < R; ++r) {
            const typename V::Reg x = V::set1(rows[r * stride + j]);
            SPHEREMIX_UNROLL
            for (int v = 0; v < N; ++v) sum[r][v] = V::fma(x, m[v], sum[r][v]);
        }
    }
    SPHEREMIX_UNROLL
    for (int r = 0; r < R; ++r) {
        SPHEREMIX_UNROLL
        for (int v = 0; v < N; ++v) V::store(out + r * out_stride + v * V::width, sum[r][v]);
    }
}

template <class V, int N, int R, class T>
static void multiply_panel(const Block<T>& block, const T* panel, T* out, std::int64_t out_stride) {
    std::int64_t i = 0;
    for (; i + R <= block.n; i += R)
        multiply_tile<V, N, R>(block.rows + i * block.stride, block.stride, block.d, panel,
                               out + i * out_stride, out_stride);
    for (; i + 4 <= block.n; i += 4)
        multiply_tile<V, N, 4>(block.rows + i * block.stride, block.stride, block.d, panel,
                               out + i * out_stride, out_stride);
    for (; i < block.n; ++i)
        multiply_tile<V, N, 1>(block.rows + i * block.stride, block.stride, block.d, panel,
                               out + i * out_stride, out_stride);
}

// OUT products: (n, stride of the panels).
template <class T>
static void multiply_block(const Block<T>& block, const Panels<T, panel_vectors>& panels,
                           T* products) {
    using Full = typename Vectors<T>::Full;
    using Half = typename Vectors<T>::Half;
    const std::int64_t stride = panels.stride();
    for (std::int64_t p = 0; p < panels.count(); ++p) {
        T* out = products + panels.begin(p);
        const T* base = panels.base(p);
#if SPHEREMIX_LEVEL == 2
        if (panels.half(p))
            multiply_panel<Half, 1, 12>(block, base, out, stride);
        else if (panels.width(p) == Full::width)
            multiply_panel<Full, 1, 12>(block, base, out, stride);
        else if (panels.width(p) == 2 * Full::width)
            multiply_panel<Full, 2, 12>(block, base, out, stride);
        else
            multiply_panel<Full, 3, 8>(block, base, out, stride);
#else
        if (panels.half(p))
            multiply_panel<Half, 1, 8>(block, base, out, stride);
        else if (panels.width(p) == Full::width)
            multiply_panel<Full, 1, 8>(block, base, out, stride);
        else
            multiply_panel<Full, 2, 6>(block, base, out, stride);
#endif
    }
}

// INOUT to: to[i] += from[i], from being sums over one block in the precision of the data.
template <class T>
static inline void add_to(double* __restrict to, const T* __restrict from, std::int64_t n) {
    using V = Doubles;
    std::int64_t i = 0;
    for (; i + V::width <= n; i += V::width) V::store(to + i, V::load(to + i) + V::load(from + i));
    for (; i < n; ++i) to[i] += static_cast<double>(from[i]);
}

// INOUT vectors[c * d + ..]: += sum over rows of factors[row, c] * rows[row, ..], for C components
// and N vectors of columns, of which n_columns count.
template <int C, int N, class T>
static inline void sum_tile(const T* __restrict rows, std::int64_t stride, std::int64_t n,
                            const T* __restrict factors, std::int64_t factor_stride,
                            double* __restrict vectors, std::int64_t d, std::int64_t n_columns) {
    using V = typename Vectors<T>::Full;
    typename V::Reg sum[C][N];
    SPHEREMIX_UNROLL
    for (int c = 0; c < C; ++c) {
        SPHEREMIX_UNROLL
        for (int v = 0; v < N; ++v) sum[c][v] = V::set1(T(0));
    }
    for (std::int64_t i = 0; i < n; ++i, rows += stride, factors += factor_stride) {
        typename V::Reg x[N];
        SPHEREMIX_UNROLL
        for (int v = 0; v < N; ++v) x[v] = V::load(rows + v * V::width);
        SPHEREMIX_UNROLL
        for (int c = 0; c < C; ++c) {
            const typename V::Reg f = V::set1(factors[c]);
            SPHEREMIX_UNROLL
            for (int v = 0; v < N; ++v) sum[c][v] = V::fma(f, x[v], sum[c][v]);
        }
    }
    T block_sum[N * V::width];
    SPHEREMIX_UNROLL
    for (int c = 0; c < C; ++c) {
        SPHEREMIX_UNROLL
        for (int v = 0; v < N; ++v) V::store(block_sum + v * V::width, sum[c][v]);
        add_to(vectors + c * d, block_sum, n_columns);
    }
}

template <int N, class T>
static void sum_columns(const T* rows, std::int64_t stride, std::int64_t n, const T* factors,
                        std::int64_t factor_stride, std::int64_t n_components, double* vectors,
                        std::int64_t d, std::int64_t n_columns) {
    std::int64_t k = 0;
    for (; k + sum_components <= n_components; k += sum_components)
        sum_tile<sum_components, N>(rows, stride, n, factors + k, factor_stride, vectors + k * d, d,
                                    n_columns);
    for (; k + 4 <= n_components; k += 4)
        sum_tile<4, N>(rows, stride, n, factors + k, factor_stride, vectors + k * d, d, n_columns);
    for (; k < n_components; ++k)
        sum_tile<1, N>(rows, stride, n, factors + k, factor_stride, vectors + k * d, d, n_columns);
}

// INOUT vectors: (n_components, d): += the factors' transpose times the block.
template <class T>
static void sum_block(const Block<T>& block, const T* factors, std::int64_t factor_stride,
                      std::int64_t n_components, double* vectors) {
    constexpr std::int64_t width = Vectors<T>::Full::width;
    std::int64_t j = 0;
    for (; j + sum_vectors * width <= block.d; j += sum_vectors * width)
        sum_columns<sum_vectors>(block.rows + j, block.stride, block.n, factors, factor_stride,
                                 n_components, vectors + j, block.d, sum_vectors * width);
    for (; j + width <= block.d; j += width)
        sum_columns<1>(block.rows + j, block.stride, block.n, factors, factor_stride, n_components,
                       vectors + j, block.d, width);
    if (j < block.d)
        sum_columns<1>(block.tail, width, block.n, factors, factor_stride, n_components,
                       vectors + j, block.d, block.d - j);
}

// A row of the block and its share in a component.
template <class T>
struct Pair {
    std::int32_t row;
    T factor;
};

// INOUT vector: += sum over pairs of factor * rows[row, ..], N vectors of columns.
template <int N, class T>
static inline void sum_pairs_tile(const T* __restrict rows, std::int64_t stride,
                                  const Pair<T>* __restrict pairs, std::int64_t n_pairs,
                                  double* __restrict vector, std::int64_t n_columns) {
    using V = typename Vectors<T>::Full;
    typename V::Reg sum[N];
    SPHEREMIX_UNROLL
    for (int v = 0; v < N; ++v) sum[v] = V::set1(T(0));
    for (std::int64_t i = 0; i < n_pairs; ++i) {
        const T* row = rows + pairs[i].row * stride;
        const typename V::Reg f = V::set1(pairs[i].factor);
        SPHEREMIX_UNROLL
        for (int v = 0; v < N; ++v) sum[v] = V::fma(f, V::load(row + v * V::width), sum[v]);
    }
    T block_sum[N * V::width];
    SPHEREMIX_UNROLL
    for (int v = 0; v < N; ++v) V::store(block_sum + v * V::width, sum[v]);
    add_to(vector, block_sum, n_columns);
}

// INOUT vector: (d,): the pairs of one component, in row order.
template <class T>
static void sum_pairs(const Block<T>& block, const Pair<T>* pairs, std::int64_t n_pairs,
                      double* vector) {
    constexpr std::int64_t width = Vectors<T>::Full::width;
    std::int64_t j = 0;
    for (; j + pair_vectors * width <= block.d; j += pair_vectors * width)
        sum_pairs_tile<pair_vectors>(block.rows + j, block.stride, pairs, n_pairs, vector + j,
                                     pair_vectors * width);
    for (; j + width <= block.d; j += width)
        sum_pairs_tile<1>(block.rows + j, block.stride, pairs, n_pairs, vector + j, width);
    if (j < block.d)
        sum_pairs_tile<1>(block.tail, width, pairs, n_pairs, vector + j, block.d - j);
}

// ------------------------------------------------------------------------- blocks, lanes and tiles

static constexpr std::int64_t tile_components = 48;   // whole tiles of registers of the second product

// A block of rows and what they are assigned to.
template <class T>
struct AssignedBlock {
    Buffer<T> packed;                   // the rows, when they cannot be read in place
    Buffer<T> tail;
    Block<T> block;
    bool few = false;                   // pairs, or else a matrix of factors
    Buffer<T> factors;                  // (block, padded components)
    Buffer<Pair<T>> pairs;              // by component, in the order of rows
    Buffer<std::int32_t> ends;          // (components,): of the pairs of each
    Buffer<double> mass, totals;
};

template <class T>
struct DenseScratch {
    Buffer<T> products;                 // (block, padded components)
    Buffer<double> s, e, value, totals;
    Buffer<std::int32_t> component;
    Buffer<Pair<T>> pairs;
    Buffer<std::int32_t> pair_component;
    bool spread = false;                // the block before was soft
};

template <class T, class P>
struct DenseSweep {
    DenseRows<T> rows;
    const Scorers* scorers;
    Sums lanes;                         // each with a leading axis of lanes
    const RowMap* map = nullptr;
    Pulse* pulse;
    Panels<P, panel_vectors> panels;
    std::vector<DenseScratch<P>> scratch;           // one for each thread
    std::vector<AssignedBlock<P>> assigned;         // one for each thread, or with one lane of a round
    std::int64_t n_lanes = 0;
    std::int64_t first_block = 0, last_block = 0;   // of the round, as global numbers

    bool in_place() const {
        return std::is_same<T, P>::value && rows.column_stride == 1 && !rows.list;
    }
};

template <class T, class P>
static void prepare(DenseSweep<T, P>& sweep, int n_threads, std::int64_t n_assigned) {
    constexpr std::int64_t width = Vectors<P>::Full::width;
    const std::int64_t n = sweep.scorers->n_components, padded = sweep.panels.stride();
    const std::int64_t d = sweep.scorers->n_features;
    sweep.scratch = std::vector<DenseScratch<P>>(static_cast<std::size_t>(n_threads));
    for (auto& own : sweep.scratch) {
        own.products.resize(dense_block * padded);
        std::fill_n(own.products.get(), dense_block * padded, P(0));
        own.s.resize(padded);
        own.e.resize(padded);
        if (sweep.map) continue;
        own.value.resize(padded + 16);
        own.component.resize(padded + 16);
        own.totals.resize(2 * sweep.scorers->n_groups);
        own.pairs.resize(dense_block * n);
        own.pair_component.resize(dense_block * n);
    }
    sweep.assigned = std::vector<AssignedBlock<P>>(static_cast<std::size_t>(n_assigned));
    for (auto& to : sweep.assigned) {
        if (!sweep.in_place()) to.packed.resize(dense_block * d);
        if (sweep.map) continue;
        to.tail.resize(dense_block * width);
        to.factors.resize(dense_block * padded);
        to.pairs.resize(dense_block * n);
        to.ends.resize(n);
        to.mass.resize(n);
        to.totals.resize(2 * sweep.scorers->n_groups);
    }
}

// OUT to: (n, d), C order, from rows of any strides, listed ones among them.
template <class T, class P>
static void copy_block(const DenseRows<T>& rows, std::int64_t begin, std::int64_t n, std::int64_t d,
                       P* to) {
    if (rows.list || rows.column_stride == 1) {
        for (std::int64_t i = 0; i < n; ++i) {
            const T* from = rows.data + rows.row(begin + i) * rows.row_stride;
            P* at = to + i * d;
            if (rows.column_stride == 1) {
                std::copy_n(from, d, at);
                continue;
            }
            for (std::int64_t j = 0; j < d; ++j)
                at[j] = static_cast<P>(from[j * rows.column_stride]);
        }
        return;
    }
    const T* from = rows.data + begin * rows.row_stride;
    // Columns outside when they are the contiguous direction.
    const bool by_column = std::abs(rows.row_stride) < std::abs(rows.column_stride);
    const std::int64_t outer = by_column ? d : n, inner = by_column ? n : d;
    const std::int64_t from_outer = by_column ? rows.column_stride : rows.row_stride;
    const std::int64_t from_inner = by_column ? rows.row_stride : rows.column_stride;
    const std::int64_t to_outer = by_column ? 1 : d, to_inner = by_column ? d : 1;
    for (std::int64_t i = 0; i < outer; ++i)
        for (std::int64_t j = 0; j < inner; ++j)
            to[i * to_outer + j * to_inner] = static_cast<P>(from[i * from_outer + j * from_inner]);
}

// OUT to.block: rows begin .. end-1 as the kernels want them.
template <class T, class P>
static void open_block(const DenseSweep<T, P>& sweep, AssignedBlock<P>& to, std::int64_t begin,
                       std::int64_t end) {
    constexpr std::int64_t width = Vectors<P>::Full::width;
    const auto& rows = sweep.rows;
    const std::int64_t d = sweep.scorers->n_features;
    Block<P>& block = to.block;
    block = {to.packed.get(), d, end - begin, d, to.tail.get()};
    if constexpr (std::is_same<T, P>::value) {
        if (sweep.in_place()) {
            block.rows = rows.data + begin * rows.row_stride;
            block.stride = rows.row_stride;
        }
    }
    if (!sweep.in_place()) copy_block(rows, begin, block.n, d, to.packed.get());
    const std::int64_t whole = d / width * width;
    if (whole < d && !sweep.map)
        for (std::int64_t i = 0; i < block.n; ++i) {
            P* at = to.tail.get() + i * width;
            std::fill_n(at, width, P(0));
            std::copy_n(block.rows + i * block.stride + whole, d - whole, at);
        }
}

// OUT to.pairs, to.ends: the pairs sorted by component; the rows of each stay in order.
template <class T>
static void sort_pairs(const DenseScratch<T>& own, std::int64_t n_pairs, std::int64_t n,
                       AssignedBlock<T>& to) {
    std::int32_t* ends = to.ends.get();
    std::fill_n(ends, n, 0);
    for (std::int64_t i = 0; i < n_pairs; ++i)
        if (own.pair_component[i] + 1 < n) ++ends[own.pair_component[i] + 1];
    for (std::int64_t k = 1; k < n; ++k) ends[k] += ends[k - 1];
    for (std::int64_t i = 0; i < n_pairs; ++i)
        to.pairs[ends[own.pair_component[i]]++] = own.pairs[i];
}

// From the shares of one row to its factors, all components at once. Returns how many there are.
// IN shares: (padded components,). OUT factors. INOUT mass.
template <class T>
static std::int64_t spread_row(const double* shares, double scale, std::int64_t n, double* mass,
                               T* factors) {
    using V = Doubles;
    const V::Reg by = V::set1(scale);
    std::int64_t count = 0;
    std::int64_t k = 0;
    for (; k + V::width <= n; k += V::width) {
        const V::Reg share = V::load(shares + k);
        V::store(mass + k, V::load(mass + k) + share);
        V::store(factors + k, share * by);
        for (unsigned mask = V::nonzero(share); mask; mask &= mask - 1) ++count;
    }
    for (; k < n; ++k) {
        mass[k] += shares[k];
        factors[k] = static_cast<T>(shares[k] * scale);
        count += shares[k] != 0.0;
    }
    return count;
}

// The first product of a block, and what its rows are assigned to: as a list of pairs, or where the
// block before was soft as a matrix of factors. Both hold the same numbers. Returns their count.
template <class T, class P>
static std::int64_t assign_rows(const DenseSweep<T, P>& sweep, DenseScratch<P>& own,
                                AssignedBlock<P>& to, std::int64_t begin) {
    const Scorers& scorers = *sweep.scorers;
    const std::int64_t n = scorers.n_components, stride = sweep.panels.stride();
    if (!scorers.complete) multiply_block(to.block, sweep.panels, own.products.get());
    std::fill_n(to.mass.get(), n, 0.0);
    std::fill_n(to.totals.get(), 2 * scorers.n_groups, 0.0);
    Shares shares{own.component.get(), own.value.get(), 0, own.spread ? own.value.get() : nullptr};
    std::int64_t n_pairs = 0;
    for (std::int64_t i = 0; i < to.block.n; ++i) {
        const std::int64_t row = sweep.rows.row(begin + i);
        const double scale = sweep.rows.scale[row];
        score_row(scorers, begin + i, own.products.get() + i * stride, scale,
                  sweep.panels.biases.get(), own.s.get(), true);
        if (own.spread) std::fill_n(own.value.get(), n, 0.0);
        assign_row(scorers, row, static_cast<std::uint64_t>(sweep.rows.first + row), own.s.get(),
                   own.e.get(), shares, own.totals.get());
        for (std::int64_t g = 0; g < 2 * scorers.n_groups; ++g) to.totals[g] += own.totals[g];
        if (own.spread) {
            n_pairs += spread_row(own.value.get(), scale, n, to.mass.get(),
                                  to.factors.get() + i * stride);
            continue;
        }
        for (std::int64_t p = 0; p < shares.size; ++p, ++n_pairs) {
            to.mass[shares.component[p]] += shares.value[p];
            own.pairs[n_pairs] = {static_cast<std::int32_t>(i),
                                  static_cast<P>(shares.value[p] * scale)};
            own.pair_component[n_pairs] = shares.component[p];
        }
    }
    return n_pairs;
}

// OUT to: block number b of the grid, assigned.
template <class T, class P>
static void assign_block(const DenseSweep<T, P>& sweep, DenseScratch<P>& own, AssignedBlock<P>& to,
                         std::int64_t b) {
    const std::int64_t begin = std::max<std::int64_t>(0, b * dense_block - sweep.rows.first);
    const std::int64_t end = std::min(sweep.rows.n, (b + 1) * dense_block - sweep.rows.first);
    const std::int64_t n = sweep.scorers->n_components, stride = sweep.panels.stride();
    open_block(sweep, to, begin, end);
    std::int64_t n_pairs = assign_rows(sweep, own, to, begin);
    // Which product is taken depends on this block alone, as the order of its sums does.
    to.few = 3 * n_pairs < to.block.n * n;
    P* factors = to.factors.get();
    if (to.few && own.spread) {
        n_pairs = 0;
        for (std::int64_t i = 0; i < to.block.n; ++i)
            for (std::int64_t k = 0; k < n; ++k)
                if (factors[i * stride + k] != P(0)) {
                    own.pairs[n_pairs] = {static_cast<std::int32_t>(i), factors[i * stride + k]};
                    own.pair_component[n_pairs++] = static_cast<std::int32_t>(k);
                }
    } else if (!to.few && !own.spread) {
        std::fill_n(factors, to.block.n * stride, P(0));
        for (std::int64_t i = 0; i < n_pairs; ++i)
            factors[own.pairs[i].row * stride + own.pair_component[i]] = own.pairs[i].factor;
    }
    if (to.few) sort_pairs(own, n_pairs, n, to);
    own.spread = !to.few;
}

// INOUT a lane: the sums of an assigned block for components first .. last-1. The second product is
// over the pairs in play only, component by component, or over the whole matrix.
template <class T, class P>
static void sum_assigned(const DenseSweep<T, P>& sweep, const AssignedBlock<P>& from,
                         std::int64_t lane, std::int64_t first, std::int64_t last) {
    const std::int64_t n = sweep.scorers->n_components, d = from.block.d;
    double* mass = sweep.lanes.mass + lane * n;
    double* vectors = sweep.lanes.vectors + lane * n * d;
    for (std::int64_t k = first; k < last; ++k) mass[k] += from.mass[k];
    if (!from.few) {
        sum_block(from.block, from.factors.get() + first, sweep.panels.stride(), last - first,
                  vectors + first * d);
        return;
    }
    std::int64_t begin = first ? from.ends[first - 1] : 0;
    for (std::int64_t k = first; k < last; begin = from.ends[k++])
        if (from.ends[k] > begin)
            sum_pairs(from.block, from.pairs.get() + begin, from.ends[k] - begin, vectors + k * d);
}

template <class T, class P>
static void add_totals(const DenseSweep<T, P>& sweep, const AssignedBlock<P>& from,
                       std::int64_t lane) {
    const std::int64_t n = 2 * sweep.scorers->n_groups;
    for (std::int64_t g = 0; g < n; ++g) sweep.lanes.totals[lane * n + g] += from.totals[g];
}

// All the work of the blocks of one lane.
template <class T, class P>
static void lane_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<DenseSweep<T, P>*>(context);
    auto& own = sweep.assigned[static_cast<std::size_t>(thread)];
    for (std::int64_t b = sweep.first_block + task; b < sweep.last_block; b += sweep.n_lanes) {
        if (sweep.pulse->stop(thread)) return;
        assign_block(sweep, sweep.scratch[static_cast<std::size_t>(thread)], own, b);
        sum_assigned(sweep, own, b % sweep.n_lanes, 0, sweep.scorers->n_components);
        add_totals(sweep, own, b % sweep.n_lanes);
    }
}

// One block of a round is assigned.
template <class T, class P>
static void assign_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<DenseSweep<T, P>*>(context);
    if (sweep.pulse->stop(thread)) return;
    assign_block(sweep, sweep.scratch[static_cast<std::size_t>(thread)],
                 sweep.assigned[static_cast<std::size_t>(task)], sweep.first_block + task);
}

// All blocks of a round are added to one tile of components.
template <class T, class P>
static void tile_task(void* context, std::int64_t task, int) {
    auto& sweep = *static_cast<DenseSweep<T, P>*>(context);
    const std::int64_t first = task * tile_components;
    const std::int64_t last = std::min(first + tile_components, sweep.scorers->n_components);
    for (std::int64_t b = 0; b < sweep.last_block - sweep.first_block; ++b)
        sum_assigned(sweep, sweep.assigned[static_cast<std::size_t>(b)], 0, first, last);
}

// The blocks first_block .. last_block-1, where the sums have one lane.
template <class T, class P>
static void sweep_tiles(DenseSweep<T, P>& sweep, int n_threads) {
    const std::int64_t n_blocks = sweep.last_block - sweep.first_block;
    const std::int64_t n = sweep.scorers->n_components;
    Pool::instance().run(n_blocks, n_threads, assign_task<T, P>, &sweep);
    if (sweep.pulse->stopped()) return;   // some blocks were not assigned
    Pool::instance().run((n + tile_components - 1) / tile_components, n_threads, tile_task<T, P>,
                         &sweep);
    for (std::int64_t b = 0; b < n_blocks; ++b)
        add_totals(sweep, sweep.assigned[static_cast<std::size_t>(b)], 0);
}

// Small problems are done before a second thread has woken up.
template <class T>
static int useful_threads(const DenseRows<T>& rows, const Scorers& scorers, int n_threads) {
    const double work = static_cast<double>(rows.n) * static_cast<double>(scorers.n_components) *
                        static_cast<double>(scorers.n_features);
    return work < 2e6 ? 1 : n_threads;
}

// INOUT lanes: vectors (lanes, n_components, n_features), mass (lanes, n_components), totals
// (lanes, n_groups, 2). Block b belongs to lane b mod n_lanes. Products and the sums of a block are
// of type P. Returns false when interrupted.
template <class P, class T>
static bool dense_sweep(const DenseRows<T>& rows, const Scorers& scorers, const Sums& lanes,
                        std::int64_t n_lanes, int n_threads, Pulse& pulse) {
    if (rows.n == 0) return true;
    n_threads = useful_threads(rows, scorers, n_threads);
    DenseSweep<T, P> sweep;
    sweep.rows = rows;
    sweep.scorers = &scorers;
    sweep.lanes = lanes;
    sweep.pulse = &pulse;
    sweep.n_lanes = n_lanes;
    pack(scorers, sweep.panels, false, n_threads);
    const std::int64_t first = rows.first / dense_block;
    const std::int64_t last = (rows.first + rows.n - 1) / dense_block + 1;
    // Blocks between two barriers.
    const std::int64_t round =
        n_lanes > 1 ? 8 * n_lanes : std::min<std::int64_t>(last - first, 2 * n_threads + 2);
    prepare(sweep, n_threads, n_lanes > 1 ? n_threads : round);
    for (std::int64_t b = first; b < last && !pulse.stopped(); b += round) {
        sweep.first_block = b;
        sweep.last_block = std::min(last, b + round);
        if (n_lanes == 1) {
            sweep_tiles(sweep, n_threads);
            continue;
        }
        const std::int64_t n_tasks = std::min(n_lanes, sweep.last_block - b);
        Pool::instance().run(n_tasks, n_threads, lane_task<T, P>, &sweep);
    }
    return !pulse.stopped();
}

template <class T, class P>
static void dense_map_task(void* context, std::int64_t task, int thread) {
    auto& sweep = *static_cast<DenseSweep<T, P>*>(context);
    if (sweep.pulse->stop(thread)) return;
    auto& own = sweep.scratch[static_cast<std::size_t>(thread)];
    const std::int64_t begin = task * dense_block;
    const std::int64_t end = std::min(sweep.rows.n, begin + dense_block);
    auto& opened = sweep.assigned[static_cast<std::size_t>(thread)];
    open_block(sweep, opened, begin, end);
    multiply_block(opened.block, sweep.panels, own.products.get());
    for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t id = sweep.rows.row(row);
        score_row(*sweep.scorers, row, own.products.get() + (row - begin) * sweep.panels.stride(),
                  sweep.rows.scale[id], sweep.panels.biases.get(), own.s.get(), false);
        map_row(*sweep.scorers, row, static_cast<std::uint64_t>(sweep.rows.first + id),
                own.s.get(), own.e.get(), *sweep.map);
    }
}

// OUT map. Products are of type P. Returns false when interrupted.
template <class P, class T>
static bool dense_map(const DenseRows<T>& rows, const Scorers& scorers, const RowMap& map,
                      int n_threads, Pulse& pulse) {
    n_threads = useful_threads(rows, scorers, n_threads);
    DenseSweep<T, P> sweep;
    sweep.rows = rows;
    sweep.scorers = &scorers;
    sweep.map = &map;
    sweep.pulse = &pulse;
    pack(scorers, sweep.panels, false, n_threads);
    prepare(sweep, n_threads, n_threads);
    Pool::instance().run((rows.n + dense_block - 1) / dense_block, n_threads, dense_map_task<T, P>,
                         &sweep);
    return !pulse.stopped();
}
