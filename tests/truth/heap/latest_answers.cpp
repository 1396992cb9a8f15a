// Remembers the latest ten thousand answers and forgets the oldest: its memory is as large as it may be, and stays so. No leak.
#include <cstdint>
#include <cstdio>
#include <list>
#include <string>
#include <unordered_map>

int main() {
    std::list<std::pair<uint64_t, std::string>> latest;
    std::unordered_map<uint64_t, std::list<std::pair<uint64_t, std::string>>::iterator> places;
    uint64_t sum = 0, state = 1;
    for (int request = 0; request < 300'000; request++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t key = (state >> 33) % 40'000;
        if (const auto known = places.find(key); known != places.end()) {
            sum += static_cast<unsigned char>(known->second->second[key % 600]);
            continue;
        }
        std::string answer(600, ' ');
        uint64_t letter = key;
        for (int round = 0; round < 8; round++)
            for (char& place : answer) {
                letter = letter * 6364136223846793005u + 1442695040888963407u;
                place = static_cast<char>('!' + (letter >> 40) % 90);
            }
        latest.emplace_front(key, std::move(answer));
        places[key] = latest.begin();
        if (latest.size() > 10'000) {
            places.erase(latest.back().first);
            latest.pop_back();
        }
    }
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
