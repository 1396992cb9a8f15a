// Answers requests and remembers the answers. Planted: nothing ever leaves the cache. Cured: it holds the latest thousand.
#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <unordered_map>

class Answers {
  public:
    const std::string& of(uint64_t request) {
        const auto known = answers_.find(request);
        if (known != answers_.end())
            return known->second;
#ifdef CURED
        order_.push_back(request);
        if (order_.size() > 1000) {
            answers_.erase(order_.front());
            order_.pop_front();
        }
#endif
        return answers_.emplace(request, make(request)).first->second; // planted: heap-leak
    }

  private:
    static std::string make(uint64_t request) {
        std::string answer(700, ' '); // planted: heap-leak
        for (size_t round = 0; round < 4; round++)
            for (size_t i = 0; i < answer.size(); i++) {
                request = request * 6364136223846793005u + 1442695040888963407u;
                answer[i] = static_cast<char>('!' + (request >> 40) % 90);
            }
        return answer;
    }

    std::unordered_map<uint64_t, std::string> answers_;
    std::deque<uint64_t> order_;
};

int main() {
    Answers answers;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 400'000; i++)
        sum += static_cast<unsigned char>(answers.of(i % 7 ? i : i / 2)[i % 700]);
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
