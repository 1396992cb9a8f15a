#include "repeat/turns.h"

namespace plumb::repeat {

std::vector<Turn> turns_of(size_t commands, size_t warm_up_rounds, size_t rounds) {
    std::vector<Turn> turns;
    for (size_t round = 0; round < warm_up_rounds + rounds; ++round)
        for (size_t place = 0; place < commands; ++place) {
            const bool is_warm_up = round < warm_up_rounds;
            turns.push_back({round % 2 ? commands - 1 - place : place, is_warm_up ? round : round - warm_up_rounds, is_warm_up});
        }
    return turns;
}

} // namespace plumb::repeat
