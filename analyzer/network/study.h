// All that plumb topo says of a network, of the nodes of a job in it, and of the job's messages.
#pragma once

#include "network/files/topology_file.h"
#include "network/job/allocation.h"
#include "network/job/hop_bytes.h"
#include "network/job/job_shape.h"
#include "network/job/recorded_traffic.h"
#include "network/order/rank_order.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace plumb::network {

struct StudyPlan {
    TopologyFile topology;          // without a network: the hosts are taken to be at one switch
    std::string topology_name;      // of its file; empty: none
    std::vector<std::string> nodes; // of the job; empty: the hosts of `job`
    std::optional<RecordedTraffic> job;
    // Of each rank, those of its cache, sorted, numbers of hwloc: the network is the inside of hosts. Empty: it joins them.
    std::vector<std::vector<int>> cores_of;
    double limit_s = 60;            // to look for an order
    bool wants_order = true;        // else what is known of the nodes and of the messages as they are
};

// A link, named, with those that send most over it.
struct NamedLink {
    Link link;
    double bytes = 0;
    std::vector<PairTraffic> pairs;
};

struct Study {
    StudyPlan plan;
    std::shared_ptr<const Network> network; // not null
    bool knows_wiring = false;              // from a file
    std::vector<NodeIndex> nodes;           // of the job, each once; empty: none were given
    Allocation allocation;                  // of these
    // Where messages were recorded.
    std::vector<std::string> host_of; // of each rank, as it was given
    std::vector<NodeIndex> node_of;
    JobShape shape;
    RankOrder order;
    std::vector<NamedLink> heaviest, heaviest_after;
    double mean_link_bytes = 0;         // of links that carry anything
    double shared = 0, shared_after = 0; // shared_link_share()

    bool has_traffic() const { return plan.job && !plan.job->traffic.pairs.empty(); }
    bool is_inside() const { return !plan.cores_of.empty(); }
    bool order_is_better() const { return order.method != RankOrder::Method::as_it_is; }
    // Of each rank in the better order: its host, and how many CPUs that has (0: not known, as of nodes that were not recorded).
    std::vector<std::string> new_host_of() const;
    std::vector<uint32_t> new_cpus_of() const;
    std::vector<std::vector<int>> new_cores_of() const; // inside of hosts
};

// Throws Error where nodes of the job are not in the network, or their number does not fit the ranks.
Study run_study(StudyPlan plan);

} // namespace plumb::network
