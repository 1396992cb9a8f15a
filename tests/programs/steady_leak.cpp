// steady_leak SECONDS: keeps one large buffer from the start, allocates and frees, and leaks a little all the time.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

void* volatile g_sink;

void leak_some() {
    g_sink = std::malloc(20'000); // line of the leak
}

void use_some() {
    std::vector<char> buffer(20'000);
    g_sink = buffer.data();
}

} // namespace

int main(int argc, char** argv) {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
    std::vector<char> kept(64 << 20, 1); // set up once: not a leak
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
        for (int i = 0; i < 10; i++) {
            leak_some();
            use_some();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return kept[0] - 1;
}
