// The inner loops over non-zeros. Included once per instruction set, inside its namespace.

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
