// Our sparse LDL^T beside CHOLMOD and Eigen on matrices that `dump` wrote: ldlt MATRIX.mtx ...
// Every solver sees the same pattern, couplings that are zero at the moment included. One thread; the
// solvers take turns, and the best of several rounds counts. Times in microseconds:
//   analyse   order and symbolic work         fill      ours: values to zero, then its blocks added
//   factor    numeric (CHOLMOD and Eigen copy the values in it)         solve     one right-hand side
//   ratio     fill + factor + solve over that of CHOLMOD, supernodal with AMD
// nnz(L) and flops (sum of the squared column counts) are those of the stored factor, padding included; for
// the line "order" they are what our order gives without any padding.
#include "ours.h"
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <suitesparse/cholmod.h>
#include <time.h>
#include <vector>

// processor time of this thread, microseconds: on a machine that is shared, what takes longer than a time slice
// would look twice as slow by the clock on the wall
static double now()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

struct matrix {
    int n = 0;   // unknowns
    std::vector<int> start, row;   // lower triangle by columns
    std::vector<double> value;
    std::vector<int> pair;
    std::vector<double> block;
    problem blocks() { return problem{n / 3, (int)pair.size() / 2, pair.data(), block.data()}; }
};

static bool read(const char *path, matrix &A)
{
    FILE *f = fopen(path, "r");
    char line[256];
    int m = 0, count = 0, i, j;
    double v;
    std::map<std::pair<int, int>, int> at;
    std::vector<std::vector<std::pair<int, double>>> column;
    if (!f) return false;
    while (fgets(line, sizeof line, f) && line[0] == '%') {}
    if (sscanf(line, "%d %d %d", &A.n, &m, &count) != 3 || A.n % 3) return false;
    column.resize((size_t)A.n);
    while (fscanf(f, "%d %d %lf", &i, &j, &v) == 3) {
        int I = --i / 3, J = --j / 3;
        auto found = at.emplace(std::make_pair(I, J), (int)A.pair.size() / 2);
        if (found.second) {
            A.pair.push_back(I);
            A.pair.push_back(J);
            A.block.resize(A.block.size() + 9);
        }
        double *B = A.block.data() + 9 * found.first->second;
        B[3 * (i % 3) + j % 3] = v;
        if (I == J) B[3 * (j % 3) + i % 3] = v;
        column[(size_t)j].emplace_back(i, v);
    }
    fclose(f);
    A.start.push_back(0);
    for (auto &c : column) {
        std::sort(c.begin(), c.end());
        for (auto &e : c) {
            A.row.push_back(e.first);
            A.value.push_back(e.second);
        }
        A.start.push_back((int)A.row.size());
    }
    return (int)A.row.size() == count;
}

// |b - A x| / |b|
static double residual(const matrix &A, const std::vector<double> &x, const std::vector<double> &b)
{
    std::vector<double> r = b;
    double rr = 0, bb = 0;
    for (int j = 0; j < A.n; j++)
        for (int k = A.start[(size_t)j]; k < A.start[(size_t)j + 1]; k++) {
            int i = A.row[(size_t)k];
            r[(size_t)i] -= A.value[(size_t)k] * x[(size_t)j];
            if (i != j) r[(size_t)j] -= A.value[(size_t)k] * x[(size_t)i];
        }
    for (int i = 0; i < A.n; i++) {
        rr += r[(size_t)i] * r[(size_t)i];
        bb += b[(size_t)i] * b[(size_t)i];
    }
    return std::sqrt(rr / bb);
}

struct solver {
    std::string name;
    double best[4] = {1e30, 1e30, 1e30, 1e30};   // analyse, fill, factor, solve
    double nnz = 0, flops = 0, error = 0;
    explicit solver(const char *n) : name(n) {}
    virtual ~solver() {}
    virtual void analyze() = 0;
    virtual void fill() {}
    virtual void factor() = 0;
    virtual void solve(std::vector<double> &b) = 0;   // b := x
    virtual void size() {}
    void time(const std::vector<double> &b, int inner)
    {
        double start = now(), sum[3] = {0, 0, 0};
        analyze();
        best[0] = std::min(best[0], now() - start);
        for (int k = 0; k < inner; k++) {
            std::vector<double> x = b;
            double t0 = now(), t1, t2;
            fill();
            t1 = now();
            factor();
            t2 = now();
            solve(x);
            sum[0] += t1 - t0;
            sum[1] += t2 - t1;
            sum[2] += now() - t2;
        }
        for (int k = 0; k < 3; k++) best[k + 1] = std::min(best[k + 1], sum[k] / inner);
    }
    double total() const { return best[1] + best[2] + best[3]; }
};

#define OURS_SOLVER(p)                                                                          \
    struct p##_solver : solver {                                                                \
        problem a;                                                                              \
        void *f;                                                                                \
        int method;                                                                             \
        p##_solver(const char *n, matrix &A, int m) : solver(n), a(A.blocks()), f(p##_open(&a)), method(m) {} \
        ~p##_solver() { p##_close(f); }                                                         \
        void analyze() { p##_analyze(f, &a, method); }                                          \
        void fill() { p##_fill(f); }                                                        \
        void factor() { p##_factor(f); }                                                        \
        void solve(std::vector<double> &b) { p##_solve(f, b.data()); }                          \
        void size()                                                                             \
        {                                                                                       \
            ours_size s = p##_size(f);                                                          \
            nnz = s.values;                                                                     \
            flops = s.flops;                                                                    \
            if (s.dense) name += " (dense)";                                                    \
            if (method == METHOD_CG) name += ", " + std::to_string(s.iterations) + " iterations"; \
        }                                                                                       \
    };
OURS_SOLVER(o2)
OURS_SOLVER(native)

struct cholmod_solver : solver {
    cholmod_common c;
    cholmod_sparse A;
    cholmod_factor *L = nullptr;
    cholmod_dense *x = nullptr, *Y = nullptr, *E = nullptr;
    std::vector<int> order;   // given, by unknown
    cholmod_solver(const char *n, matrix &M, int supernodal, int ordering, std::vector<int> given = {})
        : solver(n), order(given)
    {
        cholmod_start(&c);
        c.supernodal = supernodal;
        c.nmethods = 1;
        c.method[0].ordering = ordering;
        c.postorder = ordering != CHOLMOD_GIVEN;
        c.final_ll = supernodal == CHOLMOD_SUPERNODAL;
        c.print = 0;
        A.nrow = A.ncol = (size_t)M.n;
        A.nzmax = M.row.size();
        A.p = M.start.data();
        A.i = M.row.data();
        A.nz = A.z = nullptr;
        A.x = M.value.data();
        A.stype = -1;
        A.itype = CHOLMOD_INT;
        A.xtype = CHOLMOD_REAL;
        A.dtype = CHOLMOD_DOUBLE;
        A.sorted = A.packed = 1;
    }
    ~cholmod_solver()
    {
        cholmod_free_factor(&L, &c);
        cholmod_free_dense(&x, &c);
        cholmod_free_dense(&Y, &c);
        cholmod_free_dense(&E, &c);
        cholmod_finish(&c);
    }
    void analyze()
    {
        cholmod_free_factor(&L, &c);
        L = order.empty() ? cholmod_analyze(&A, &c) : cholmod_analyze_p(&A, order.data(), nullptr, 0, &c);
    }
    void factor() { cholmod_factorize(&A, L, &c); }
    void solve(std::vector<double> &b)
    {
        cholmod_dense B;
        B.nrow = B.d = B.nzmax = (size_t)A.nrow;
        B.ncol = 1;
        B.x = b.data();
        B.z = nullptr;
        B.xtype = CHOLMOD_REAL;
        B.dtype = CHOLMOD_DOUBLE;
        cholmod_solve2(CHOLMOD_A, L, &B, nullptr, &x, nullptr, &Y, &E, &c);
        std::copy((double *)x->x, (double *)x->x + A.nrow, b.begin());
    }
    void size()
    {
        nnz = c.lnz;
        flops = c.fl;
        if (!L->is_super) return;
        nnz = flops = 0;   // with the padding of its supernodes
        const int *super = (const int *)L->super, *pi = (const int *)L->pi;
        for (size_t s = 0; s < L->nsuper; s++)
            for (int k = 0, w = super[s + 1] - super[s]; k < w; k++) {
                double count = pi[s + 1] - pi[s] - k;
                nnz += count;
                flops += count * count;
            }
    }
};

struct eigen_solver : solver {
    Eigen::SparseMatrix<double> A;
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower, Eigen::AMDOrdering<int>> L;
    eigen_solver(matrix &M) : solver("Eigen SimplicialLDLT, AMD")
    {
        A = Eigen::Map<Eigen::SparseMatrix<double>>(M.n, M.n, (int)M.row.size(), M.start.data(), M.row.data(),
                                                    M.value.data());
    }
    void analyze() { L.analyzePattern(A); }
    void factor() { L.factorize(A); }
    void solve(std::vector<double> &b)
    {
        Eigen::Map<Eigen::VectorXd> x(b.data(), A.rows());
        x = L.solve(Eigen::VectorXd(x));
    }
    void size()
    {
        const auto &F = L.matrixL().nestedExpression();
        nnz = (double)F.nonZeros() + (double)A.rows();
        flops = 0;
        for (int j = 0; j < F.outerSize(); j++) {
            double count = F.outerIndexPtr()[j + 1] - F.outerIndexPtr()[j] + 1;
            flops += count * count;
        }
    }
};

static void compare(const char *path, int rounds)
{
    matrix A;
    std::vector<std::unique_ptr<solver>> list;
    std::vector<double> b;
    if (!read(path, A)) {
        printf("%s: cannot be read\n", path);
        return;
    }
    for (int i = 0; i < A.n; i++) b.push_back(std::sin(1.0 + i));
    list.emplace_back(new cholmod_solver("CHOLMOD supernodal, AMD", A, CHOLMOD_SUPERNODAL, CHOLMOD_AMD));
    list.emplace_back(new cholmod_solver("CHOLMOD supernodal, METIS", A, CHOLMOD_SUPERNODAL, CHOLMOD_METIS));
    list.emplace_back(new cholmod_solver("CHOLMOD simplicial, AMD", A, CHOLMOD_SIMPLICIAL, CHOLMOD_AMD));
    list.emplace_back(new eigen_solver(A));
    list.emplace_back(new o2_solver("ours, -O2", A, METHOD_AUTO));
    list.emplace_back(new native_solver("ours, -O3 native", A, METHOD_AUTO));
    if (A.n <= 2000) list.emplace_back(new native_solver("ours, dense, -O3 native", A, METHOD_DENSE));
    list.emplace_back(new native_solver("ours, CG, -O3 native", A, METHOD_CG));
    int slow = (int)list.size() - 1 - (A.n <= 2000);   // from here on a few rounds are enough
    for (auto &s : list) {   // once to warm up, and for the residual
        std::vector<double> x = b;
        s->analyze();
        s->fill();
        s->factor();
        s->solve(x);
        s->error = residual(A, x, b);
        s->size();
    }
    int inner = 1 + 60000 / (A.n * (A.n > 300 ? 10 : 1));
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < (int)list.size(); k++)
            if (k < slow || r < 3) list[(size_t)k]->time(b, k < slow ? inner : 1);
    printf("\n%s: %d unknowns, %d blocks\n", path, A.n, (int)A.pair.size() / 2);
    printf("%-34s %9s %8s %9s %8s %7s %9s %9s %8s %9s\n", "", "analyse", "fill", "factor", "solve", "ratio", "nnz(L)",
           "Mflop", "GFlop/s", "residual");
    for (auto &s : list)
        printf("%-34s %9.1f %8.1f %9.1f %8.1f %7.2f %9.0f %9.3f %8.2f %9.1e\n", s->name.c_str(), s->best[0], s->best[1],
               s->best[2], s->best[3], s->total() / list[0]->total(), s->nnz, s->flops / 1e6,
               s->flops / s->best[2] / 1e3, s->error);
    native_solver ours("", A, METHOD_SPARSE);
    std::vector<int> node((size_t)A.n / 3), order;
    ours.analyze();
    native_order(ours.f, node.data());
    for (int i : node)
        for (int c = 0; c < 3; c++) order.push_back(3 * i + c);
    cholmod_solver given("", A, CHOLMOD_SIMPLICIAL, CHOLMOD_GIVEN, order);
    given.analyze();
    given.size();
    printf("%-34s %56s %9.0f %9.3f\n", "our order, without padding", "", given.nnz, given.flops / 1e6);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rounds = getenv("ROUNDS") ? atoi(getenv("ROUNDS")) : 15;
    printf("lanes: %d at -O2, %d native; microseconds, the best of %d rounds\n", o2_lanes(), native_lanes(), rounds);
    for (int k = 1; k < argc; k++) compare(argv[k], rounds);
    return 0;
}
