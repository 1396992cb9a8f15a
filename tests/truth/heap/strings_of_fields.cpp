// Splits lines of comma-separated text into fields and adds up their hashes. Planted: every field becomes a string of
// its own, longer than a string holds without the heap.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

static std::string make_line(unsigned seed) {
    std::string line;
    for (int field = 0; field < 24; field++) {
        for (int i = 0; i < 28; i++)
            line += static_cast<char>('a' + (seed = seed * 1103515245 + 12345) / 65536 % 26);
        line += ',';
    }
    return line;
}

static uint64_t sum_of(std::string_view field) {
    uint64_t sum = 0;
    for (size_t i = 0; i < field.size(); i += 4)
        sum += static_cast<uint64_t>(field[i]) << (i & 31);
    return sum;
}

#ifdef CURED
using Field = std::string_view;
#else
using Field = std::string;
#endif

static uint64_t parse(std::string_view line, std::vector<Field>& fields) {
    fields.clear();
    for (size_t begin = 0; begin < line.size();) {
        const size_t end = line.find(',', begin);
        fields.emplace_back(line.substr(begin, end - begin)); // planted: heap-bound
        begin = end + 1;
    }
    uint64_t sum = 0;
    for (const Field& field : fields)
        sum += sum_of(field);
    return sum;
}

int main() {
    std::vector<std::string> lines;
    for (unsigned i = 0; i < 200; i++)
        lines.push_back(make_line(i));
    uint64_t sum = 0;
    std::vector<Field> fields;
    for (size_t round = 0; round < 1'600'000; round++)
        sum = sum * 3 + parse(lines[round * 11 % lines.size()], fields);
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
