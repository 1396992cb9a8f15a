// Work on all ranks of a job, divided among the threads of this process and, when there is a team, to its processes. What comes
// out does not depend on how many there are of either.
#pragma once

#include "replay/events/job.h"
#include "replay/events/shares.h"
#include "support/error.h"
#include "team/packing.h"
#include "team/team.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plumb::replay {

// Which ranks, clocks and communicators the job was found to have: the part of a process that found others is of no use.
uint64_t shape_of(const Job& job);

class RankWork {
  public:
    // `team` null: this process does it all. Both outlive the work; rows of the job must not change.
    RankWork(const Job& job, unsigned threads, team::Team* team) : job_(job), threads_(threads), team_(team) {}

    // What make() returns for no rank at all, with the work of each rank added: work(row, result). A result has
    // merge(Result&&) of what other ranks added, carry() (team/packing.h), and fits(job): whether what was carried here is
    // possible. With a team all its members call it alike, and all get the result.
    template <class Make, class Work> auto of_all(const Make& make, const Work& work) const { return *share(make, work, true); }

    // The same for the process that leads; nothing for the others, which hand over what they did and go on at once.
    template <class Make, class Work> auto for_leader(const Make& make, const Work& work) const { return share(make, work, false); }

  private:
    std::vector<uint32_t> rows_of(size_t member) const {
        const size_t step = team_ ? team_->members() : 1;
        std::vector<uint32_t> rows;
        for (size_t row = member; row < job_.ranks.size(); row += step)
            rows.push_back(static_cast<uint32_t>(row));
        return rows;
    }

    template <class Make, class Work> auto of_rows(const std::vector<uint32_t>& rows, const Make& make, const Work& work) const {
        using Result = decltype(make());
        std::vector<Result> shares;
        for (unsigned count = shares_for(rows.size(), threads_); count > 0; --count)
            shares.push_back(make());
        for_each_row(rows, shares, work);
        for (size_t share = 1; share < shares.size(); ++share) {
            shares[0].merge(std::move(shares[share]));
            shares[share] = make(); // gives its memory back
        }
        return std::move(shares[0]);
    }

    template <class Make, class Work>
    auto share(const Make& make, const Work& work, bool all_need_it) const {
        using Result = decltype(make());
        std::optional<Result> result;
        result.emplace(of_rows(rows_of(team_ ? team_->own() : 0), make, work));
        if (!team_)
            return result;
        {
            team::Packer part;
            part(shape_of(job_), sizeof(Result), *result);
            team_->give(part.bytes(), all_need_it);
        }
        if (!all_need_it && !team_->leads()) {
            result.reset();
            return result;
        }
        std::vector<uint32_t> undone;
        for (size_t member = 0; member < team_->members(); ++member) {
            if (member == team_->own() || take(member, make, *result))
                continue;
            const std::vector<uint32_t> rows = rows_of(member);
            undone.insert(undone.end(), rows.begin(), rows.end());
        }
        if (!undone.empty())
            result->merge(of_rows(undone, make, work));
        return result;
    }

    // False: it did something else, as another version of plumb may.
    template <class Make, class Result> bool take(size_t member, const Make& make, Result& result) const {
        const std::string part = team_->take(member);
        Result theirs = make();
        try {
            team::Unpacker unpacker(part);
            uint64_t shape = 0, kind = 0;
            unpacker(shape, kind);
            if (shape != shape_of(job_) || kind != sizeof(Result))
                return false;
            unpacker(theirs);
            if (!unpacker.at_end() || !theirs.fits(job_))
                return false;
        } catch (const Error&) {
            return false;
        }
        result.merge(std::move(theirs));
        return true;
    }

    const Job& job_;
    unsigned threads_;
    team::Team* team_;
};

} // namespace plumb::replay
