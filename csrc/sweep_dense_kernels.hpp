// The two products of a block of dense rows, in registers. Included once per instruction set,
// inside its namespace.

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
