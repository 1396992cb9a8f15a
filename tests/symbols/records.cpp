// Data that is hard to name: packed records, statics of functions and namespaces, arrays of arrays, unions.
#include <cstdint>
#include <cstdio>

#define APART __attribute__((noinline))

struct __attribute__((packed)) Record {
    char tag;
    double weight;
    struct {
        int16_t kind;
        float shape[3];
    } in;
};
struct Clean {
    int count;
    double weight;
};
typedef struct {
    char first;
    union {
        double number;
        struct {
            float low, high;
        };
    };
} Either;

namespace grid {
Record records[8];
static Clean cleans[4];
namespace {
double hidden[3][5];
}
} // namespace grid
Either either;

extern "C" {
APART double weight_of(Record* record) { return record->weight; }
APART double weight_at(Record* records, int i) { return records[i].weight; }
APART double next_seed(double add) {
    static double seeds[4];
    seeds[2] += add;
    return seeds[2];
}
APART double use_locals(int i) {
    volatile Record own[4] = {};
    own[i & 3].weight = i;
    return own[(i + 1) & 3].weight;
}
}

int main(int argc, char**) {
    grid::records[argc].weight = 1;
    grid::cleans[argc].weight = grid::hidden[1][argc] += argc;
    either.number = argc;
    either.high += 1;
    std::printf("%f %f %f %f %f %f\n", weight_of(grid::records + argc), weight_at(grid::records, argc), next_seed(argc),
                use_locals(argc), grid::cleans[argc & 3].weight + grid::hidden[1][2], either.number);
    return 0;
}
