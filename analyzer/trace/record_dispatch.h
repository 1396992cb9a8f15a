// Hands each record of a file to the builder of the process or the host that it is about.
#pragma once

#include "model/run.h"
#include "trace/builders/host_builder.h"
#include "trace/builders/process_builder.h"
#include "trace/context/file_context.h"
#include "trace/file/trace_reader.h"
#include "trace/process_images.h"
#include "trace/run_notes.h"

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace plumb::trace {

class RecordDispatch {
  public:
    // Builders by the numbers of their processes and hosts in `run`.
    RecordDispatch(model::Run& run, const ProcessImages& images, std::deque<ProcessBuilder>& processes,
                   std::vector<HostBuilder>& hosts)
        : run_(run), images_(images), processes_(processes), hosts_(hosts) {}

    // All of `trace`, which is file number `file` of the run; twice read: texts and call-path nodes first.
    void take(TraceReader& trace, size_t file, FileContext& context);

    Skipped skipped() const { return skipped_; }

  private:
    // The process that ran under `pid` then.
    uint32_t process_at(const FileContext& context, uint32_t pid, uint64_t time_ns) const {
        return images_.find({context.host(), context.pid_namespace(), pid}, context.time(time_ns));
    }
    template <class Record> void give(const Record& record, uint32_t process, uint32_t pid, FileContext& context);
    void take_waited_for(WaitedFor record, FileContext& context);
    void take_evidence(const Evidence& record, const FileContext& context);

    model::Run& run_;
    const ProcessImages& images_;
    std::deque<ProcessBuilder>& processes_;
    std::vector<HostBuilder>& hosts_;
    std::set<std::tuple<std::string, model::Evidence::State, std::string>> evidence_;
    Skipped skipped_;
};

} // namespace plumb::trace
