// Deals the ranks of a job (rows of Job::ranks) out to threads. What is gathered of them must not depend on who gathered it: each share fills
// an object of its own, and merging these in the order of the shares gives what one share alone would have given.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace plumb::replay {

// Threads that are worth starting for so many rows; `wanted` 0: as many as the machine runs at once.
inline unsigned shares_for(size_t rows, unsigned wanted) {
    constexpr unsigned kMostShares = 16;
    const unsigned possible = wanted ? wanted : std::max(1u, std::thread::hardware_concurrency());
    return static_cast<unsigned>(std::min<size_t>({possible, kMostShares, std::max<size_t>(1, rows)}));
}

// Calls work(row, result) for each of the rows, those of one share in their order; `results` has one element a share.
// The first exception that is thrown in a share ends that share and is thrown again at the end.
template <class Result, class Work>
void for_each_row(const std::vector<uint32_t>& rows, std::vector<Result>& results, const Work& work) {
    std::vector<std::exception_ptr> failures(results.size());
    const auto run_share = [&](size_t share) {
        try {
            for (size_t at = share; at < rows.size(); at += results.size())
                work(rows[at], results[share]);
        } catch (...) {
            failures[share] = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    for (size_t share = 1; share < results.size(); ++share)
        threads.emplace_back(run_share, share);
    run_share(0);
    for (std::thread& thread : threads)
        thread.join();
    for (const std::exception_ptr& failure : failures)
        if (failure)
            std::rethrow_exception(failure);
}

} // namespace plumb::replay
