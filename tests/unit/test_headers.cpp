// The two sides' contract compiles on its own and its numbers are unique.
#include <plumb/environment.h>
#include <plumb/trace_format.h>

#include <catch2/catch.hpp>
#include <set>

TEST_CASE("record numbers are unique") {
    std::multiset<int> numbers;
#define PLUMB_X(number, name, what) numbers.insert(number);
    PLUMB_TRACE_RECORDS(PLUMB_X)
#undef PLUMB_X
    for (int number : numbers)
        CHECK(numbers.count(number) == 1);
}
