// Work is handed to a helper thread, item by item. Planted: the first thread sleeps and looks whether it is done. Cured: it
// waits for a condition.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex g_lock;
static std::condition_variable g_asked, g_answered;
static uint64_t g_question, g_answer, g_questions, g_answers;
static bool g_over;

[[gnu::noinline]] static uint64_t answer_of(uint64_t question) {
    uint64_t value = question;
    for (int step = 0; step < 3'000'000; step++)
        value = value * 2862933555777941757u + 3037000493u;
    return value;
}

static void answer_all() {
    std::unique_lock<std::mutex> guard(g_lock);
    while (true) {
        g_asked.wait(guard, [] { return g_over || g_answers < g_questions; });
        if (g_over)
            return;
        const uint64_t question = g_question;
        guard.unlock();
        const uint64_t answer = answer_of(question);
        guard.lock();
        g_answer = answer;
        g_answers++;
        g_answered.notify_one();
    }
}

[[gnu::noinline]] static uint64_t ask(uint64_t question) {
    std::unique_lock<std::mutex> guard(g_lock);
    g_question = question;
    g_questions++;
    g_asked.notify_one();
#ifdef CURED
    g_answered.wait(guard, [] { return g_answers == g_questions; });
#else
    while (g_answers != g_questions) {
        guard.unlock();
        std::this_thread::sleep_for(std::chrono::milliseconds(25)); // planted: sleep-poll
        guard.lock();
    }
#endif
    return g_answer;
}

int main() {
    std::thread helper(answer_all);
    uint64_t sum = 0;
    for (uint64_t question = 0; question < 60; question++)
        sum ^= ask(question);
    {
        const std::lock_guard<std::mutex> guard(g_lock);
        g_over = true;
        g_asked.notify_one();
    }
    helper.join();
    std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
