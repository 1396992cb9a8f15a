// The program whose damaged images the ELF targets read: one of each thing that debug info describes. Needs no library, so
// that every byte of it is ours. build_elf_seeds.sh makes the corpus of it.
namespace grid {
struct Cell {
    double weight;
    int kind[4];
    union {
        float low;
        short half;
    };
};
Cell cells[8];
static int calls;

template <class Number> inline __attribute__((always_inline)) Number scaled(Number value, int by) {
    Number sum = value;
    for (int i = 0; i < by; ++i)
        sum += value;
    return sum;
}
inline __attribute__((always_inline)) double relaxed(const Cell& cell) {
    ++calls;
    return scaled(cell.weight, cell.kind[1]) / 2;
}
namespace {
__attribute__((noinline)) double step(Cell* cell, int count) {
    volatile double own[4] = {};
    for (int i = 0; i < count; ++i) {
        own[i & 3] = relaxed(cell[i]);
        cell[i].weight = own[i & 3];
    }
    return own[0];
}
} // namespace
} // namespace grid

extern "C" double outside(double value);

extern "C" __attribute__((noinline)) double solve(int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i)
        sum += grid::step(grid::cells, i & 7);
#ifdef SHARED
    sum = outside(sum);
#endif
    return sum;
}

extern "C" void _start() {
    solve(3);
    for (;;)
        ;
}
