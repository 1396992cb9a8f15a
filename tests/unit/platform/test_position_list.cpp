#include "placement/position_list.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

using namespace plumb;
using placement::parse_position_list;

TEST_CASE("a list of positions keeps order and repetitions") {
    CHECK(parse_position_list("").empty());
    CHECK(parse_position_list(" \n").empty());
    CHECK(parse_position_list("7") == std::vector<int>{7});
    CHECK(parse_position_list("0,2,4-7:2") == std::vector<int>{0, 2, 4, 6});
    CHECK(parse_position_list("5, 1 ,1-3\n") == std::vector<int>{5, 1, 1, 2, 3});
    CHECK(parse_position_list("8-14:5") == std::vector<int>{8, 13});
    CHECK(parse_position_list("3-3") == std::vector<int>{3});
}

TEST_CASE("what is no list of positions is refused, and the message names the part") {
    for (const char* text : {",", "1,", ",1", "a", "-1", "1-", "3-1", "1-4:0", "1-4:", "1:2", "1-2-3", "1 2", "1;2",
                             "65536", "99999999999999999999", "0-65535,0"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_position_list(text), Error);
    }
    CHECK_THROWS_WITH(parse_position_list("1,4-x"), Catch::Contains("'4-x'"));
}

TEST_CASE("random texts are either refused or give positions in range") {
    std::mt19937 random(20261121);
    const std::string alphabet = "0123456789,-: x";
    int accepted = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        for (size_t length = random() % 12; length > 0; --length)
            text += alphabet[random() % alphabet.size()];
        try {
            for (int position : parse_position_list(text))
                REQUIRE((position >= 0 && position < placement::kMostPositions));
            ++accepted;
        } catch (const Error&) {
        }
    }
    CHECK(accepted > 100); // the alphabet does make lists
}
