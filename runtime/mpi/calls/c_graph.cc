#include <algorithm>
#include <numeric>

#include "runtime/mpi/calls/agreement.h"
#include "runtime/mpi/calls/topology.h"

using namespace phx::mpi;

namespace {

Graph graph_of(const Communicator& comm, int count, const int* ends, const int* edges) {
  require(count >= 0 && count <= comm.size(), MPI_ERR_ARG, "the graph has too many processes");
  require(count == 0 || ends != nullptr, MPI_ERR_ARG, "an array is null");
  Graph graph;
  for (int i = 0; i < count; ++i) {
    require(ends[i] >= (i == 0 ? 0 : ends[i - 1]), MPI_ERR_ARG, "an end lies before the last one");
    graph.ends.push_back(ends[i]);
  }
  for (int i = 0; i < (count == 0 ? 0 : ends[count - 1]); ++i) {
    require(edges[i] >= 0 && edges[i] < count, MPI_ERR_ARG, "an edge leads to nobody");
    graph.edges.push_back(edges[i]);
  }
  return graph;
}

std::vector<int> list_of(int count, const int* from) {
  require(count >= 0, MPI_ERR_ARG, "a number of neighbours is negative");
  return count == 0 ? std::vector<int>() : std::vector<int>(from, from + count);
}

void check_ranks(const Communicator& comm, const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    require(rank >= 0 && rank < comm.size(), MPI_ERR_ARG, "a neighbour is nobody");
  }
}

/// The same processes with these neighbours.
void give(Communicator& comm, Neighbours neighbours, MPI_Comm* out) {
  split(comm, 0, comm.rank(), out);
  comm_of(*out).topology = std::move(neighbours);
}

/// An edge as its maker tells it to its ends.
struct Edge {
  int source;
  int target;
  int weight;
};

/// All edges of all processes, by their makers.
std::vector<Edge> all_edges(Communicator& comm, const std::vector<Edge>& own) {
  const auto counts = all_say(comm, static_cast<int>(own.size()));
  const int total = std::accumulate(counts.begin(), counts.end(), 0);
  std::vector<Edge> edges(static_cast<std::size_t>(total));
  std::vector<int> begins(counts.size(), 0);
  std::partial_sum(counts.begin(), counts.end() - 1, begins.begin() + 1);
  auto* memory = reinterpret_cast<std::byte*>(edges.data());
  constexpr MPI_Count kSize = sizeof(Edge);
  const Areas areas = [&](int rank) {
    const auto i = static_cast<std::size_t>(rank);
    return Area::of_bytes(memory + begins[i] * kSize, counts[i] * kSize);
  };
  std::copy(own.begin(), own.end(), edges.begin() + begins[static_cast<std::size_t>(comm.rank())]);
  const Ref<Schedule> schedule = schedule_in(comm.collective(), comm.next_tag());
  add_allgather(*schedule, areas);
  run_now(schedule);
  return edges;
}

}  // namespace

PHX_MPI_ENTRY(int, Graph_create,
              (MPI_Comm comm, int count, const int ends[], const int edges[], int /*reorder*/,
               MPI_Comm* out)) {
  return enter("MPI_Graph_create", comm, [&] {
    need({out});
    Communicator& all = intra_of(comm);
    const Graph graph = graph_of(all, count, ends, edges);
    split(all, all.rank() < count ? 0 : MPI_UNDEFINED, all.rank(), out);
    if (*out != MPI_COMM_NULL) comm_of(*out).topology = graph;
  });
}

PHX_MPI_ENTRY(int, Graphdims_get, (MPI_Comm comm, int* count, int* edges)) {
  return enter("MPI_Graphdims_get", comm, [&] {
    need({count, edges});
    const Graph& graph = topology_of<Graph>(comm_of(comm));
    *count = static_cast<int>(graph.ends.size());
    *edges = static_cast<int>(graph.edges.size());
  });
}

PHX_MPI_ENTRY(int, Graph_get, (MPI_Comm comm, int count, int edge_count, int ends[], int edges[])) {
  return enter("MPI_Graph_get", comm, [&] {
    const Graph& graph = topology_of<Graph>(comm_of(comm));
    std::copy_n(graph.ends.begin(), std::min<int>(count, static_cast<int>(graph.ends.size())),
                ends);
    std::copy_n(graph.edges.begin(),
                std::min<int>(edge_count, static_cast<int>(graph.edges.size())), edges);
  });
}

PHX_MPI_ENTRY(int, Graph_neighbors_count, (MPI_Comm comm, int rank, int* count)) {
  return enter("MPI_Graph_neighbors_count", comm, [&] {
    need({count});
    const Communicator& all = comm_of(comm);
    require(rank >= 0 && rank < all.size(), MPI_ERR_RANK, "there is no such rank");
    *count = static_cast<int>(topology_of<Graph>(all).neighbours(rank).size());
  });
}

PHX_MPI_ENTRY(int, Graph_neighbors, (MPI_Comm comm, int rank, int count, int neighbours[])) {
  return enter("MPI_Graph_neighbors", comm, [&] {
    const Communicator& all = comm_of(comm);
    require(rank >= 0 && rank < all.size(), MPI_ERR_RANK, "there is no such rank");
    const auto found = topology_of<Graph>(all).neighbours(rank);
    std::copy_n(found.begin(), std::min<int>(count, static_cast<int>(found.size())), neighbours);
  });
}

PHX_MPI_ENTRY(int, Graph_map,
              (MPI_Comm comm, int count, const int ends[], const int edges[], int* rank)) {
  return enter("MPI_Graph_map", comm, [&] {
    need({rank});
    const Communicator& all = comm_of(comm);
    static_cast<void>(graph_of(all, count, ends, edges));
    *rank = all.rank() < count ? all.rank() : MPI_UNDEFINED;
  });
}

PHX_MPI_ENTRY(int, Dist_graph_create_adjacent,
              (MPI_Comm comm, int in_count, const int sources[], const int in_weights[],
               int out_count, const int targets[], const int out_weights[], MPI_Info /*info*/,
               int /*reorder*/, MPI_Comm* out)) {
  return enter("MPI_Dist_graph_create_adjacent", comm, [&] {
    need({out});
    Communicator& all = intra_of(comm);
    Neighbours made;
    made.sources = list_of(in_count, sources);
    made.targets = list_of(out_count, targets);
    check_ranks(all, made.sources);
    check_ranks(all, made.targets);
    made.is_weighted = in_weights != MPI_UNWEIGHTED && out_weights != MPI_UNWEIGHTED;
    if (made.is_weighted) {
      made.source_weights = list_of(in_count, in_weights);
      made.target_weights = list_of(out_count, out_weights);
    }
    give(all, std::move(made), out);
  });
}

PHX_MPI_ENTRY(int, Dist_graph_create,
              (MPI_Comm comm, int count, const int sources[], const int degrees[],
               const int targets[], const int weights[], MPI_Info /*info*/, int /*reorder*/,
               MPI_Comm* out)) {
  return enter("MPI_Dist_graph_create", comm, [&] {
    need({out});
    Communicator& all = intra_of(comm);
    require(count >= 0, MPI_ERR_ARG, "the number of sources is negative");
    std::vector<Edge> own;
    const bool is_weighted = weights != MPI_UNWEIGHTED;
    for (int i = 0; i < count; ++i) {
      require(degrees[i] >= 0, MPI_ERR_ARG, "a degree is negative");
      for (int k = 0; k < degrees[i]; ++k) {
        const auto at = own.size();
        own.push_back({sources[i], targets[at], is_weighted ? weights[at] : 0});
        check_ranks(all, {own.back().source, own.back().target});
      }
    }
    Neighbours made;
    made.is_weighted = is_weighted;
    for (const Edge& edge : all_edges(all, own)) {
      if (edge.target == all.rank()) {
        made.sources.push_back(edge.source);
        made.source_weights.push_back(edge.weight);
      }
      if (edge.source == all.rank()) {
        made.targets.push_back(edge.target);
        made.target_weights.push_back(edge.weight);
      }
    }
    give(all, std::move(made), out);
  });
}

PHX_MPI_ENTRY(int, Dist_graph_neighbors_count,
              (MPI_Comm comm, int* in_count, int* out_count, int* is_weighted)) {
  return enter("MPI_Dist_graph_neighbors_count", comm, [&] {
    need({in_count, out_count, is_weighted});
    const auto& found = topology_of<Neighbours>(comm_of(comm));
    *in_count = static_cast<int>(found.sources.size());
    *out_count = static_cast<int>(found.targets.size());
    *is_weighted = found.is_weighted ? 1 : 0;
  });
}

PHX_MPI_ENTRY(int, Dist_graph_neighbors,
              (MPI_Comm comm, int in_max, int sources[], int in_weights[], int out_max,
               int targets[], int out_weights[])) {
  return enter("MPI_Dist_graph_neighbors", comm, [&] {
    const auto& found = topology_of<Neighbours>(comm_of(comm));
    const auto fill = [](const std::vector<int>& from, int limit, int* to) {
      std::copy_n(from.begin(), std::min<int>(limit, static_cast<int>(from.size())), to);
    };
    fill(found.sources, in_max, sources);
    fill(found.targets, out_max, targets);
    if (!found.is_weighted) return;
    if (in_weights != MPI_UNWEIGHTED) fill(found.source_weights, in_max, in_weights);
    if (out_weights != MPI_UNWEIGHTED) fill(found.target_weights, out_max, out_weights);
  });
}
