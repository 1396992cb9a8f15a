// Compiled in many ways by build_flavours.sh: whatever makes it hard to tell which function an address belongs to.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define APART __attribute__((noinline))

namespace grid {
template <typename T> struct Field {
    std::vector<T> data;
    T sum() const {
        T total{};
        for (const T& x : data)
            total += x;
        return total;
    }
    APART void relax(T weight) {
        for (std::size_t i = 1; i + 1 < data.size(); ++i)
            data[i] = weight * (data[i - 1] + data[i + 1]);
    }
};
} // namespace grid

namespace {
struct Hidden {
    APART int work(int n) const {
        int result = 0;
        for (int i = 0; i < n; ++i)
            result += i ^ n;
        return result;
    }
};
} // namespace

static inline int twice(int a) { return 2 * a; }
static inline int four_times(int a) { return twice(a) + twice(std::abs(a)); }
static APART int plus_one(int a) { return four_times(a) + 1; }

extern "C" APART int c_linkage(int a) { return plus_one(a) + 2; }

struct Key {
    int value;
    APART bool operator<(const Key& other) const { return value < other.value; }
    APART int operator()(int x) const { return value + x; }
    APART explicit operator long() const { return value; }
};

extern "C" int entry(int count) {
    grid::Field<double> field;
    field.data.resize(static_cast<std::size_t>(100 + count));
    field.relax(0.5);
    std::vector<int> numbers(static_cast<std::size_t>(count * 100));
    for (int& number : numbers)
        number = c_linkage(count++);
    std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return (a ^ 5) < (b ^ 5); });
    Key key{count};
    auto local = [&](int q) APART { return q + static_cast<int>(numbers.size()); };
    if (count < 0)
        std::abort();
    std::printf("%f %d %d %ld %d %d\n", field.sum(), local(3), Hidden().work(count), static_cast<long>(key),
                key(3), key < Key{4});
    return numbers.empty() ? 0 : numbers.front();
}

int main(int argc, char**) { return entry(argc) == -1; }
