// Builds a table that is the program's result: it grows throughout the run and is used at its end. No leak.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

struct Row {
    double values[1000];
};

int main() {
    std::vector<std::unique_ptr<Row>> table;
    table.reserve(30000);
    for (int i = 0; i < 30000; i++) {
        auto row = std::make_unique<Row>();
        for (int k = 0; k < 1000; k++)
            row->values[k] = std::sqrt(i * 1.5 + std::sin(k * 0.01));
        table.push_back(std::move(row));
    }
    double sum = 0;
    for (int pass = 0; pass < 200; pass++)
        for (const auto& row : table)
            sum += *std::max_element(row->values, row->values + 100);
    std::printf("%g\n", sum);
}
