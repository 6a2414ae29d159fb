#include "watchcache/cache_metrics.hpp"

#include "backplane/core/metrics.hpp"

namespace backplane::cache_metrics {
namespace {

const std::vector<std::string>& by_resource() {
  static const std::vector<std::string> labels = {"group", "resource"};
  return labels;
}

void add(Metric& metric, const GroupResource& resource, std::size_t count) {
  metric.add({resource.group, resource.resource}, static_cast<double>(count));
}

}  // namespace

void loaded(const GroupResource& resource, std::size_t objects) {
  static Metric& initializations = Metric::counter("apiserver_watch_cache_initializations_total",
                                                   "Times that a cache was read from its store, by resource.", by_resource());
  add(initializations, resource, 1);
  list_of_store(resource);
  read_from_store(resource, objects, objects);
}

void received(const GroupResource& resource, std::size_t events) {
  static Metric& metric =
      Metric::counter("apiserver_watch_cache_events_received_total", "Events that a cache took over, by resource.", by_resource());
  add(metric, resource, events);
}

void dispatched(const GroupResource& resource, std::size_t events) {
  static Metric& metric = Metric::counter("apiserver_watch_cache_events_dispatched_total",
                                          "Events that a cache handed on to its watchers, by resource.", by_resource());
  add(metric, resource, events);
}

void initial_events(const GroupResource& resource, std::size_t events) {
  static Metric& metric = Metric::counter("apiserver_init_events_total", "Objects that watches began with, by resource.", by_resource());
  add(metric, resource, events);
}

void waited(const GroupResource& resource, double seconds, bool reached) {
  static Metric& waits =
      Metric::histogram("apiserver_watch_cache_read_wait_seconds", "Time in seconds that reads waited for a fresh cache, by resource.",
                        by_resource(), {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3});
  static Metric& reads = Metric::counter("apiserver_watch_cache_consistent_read_total",
                                         "Consistent lists from a cache: whether it came to be fresh; none falls back to the store.",
                                         {"group", "resource", "success", "fallback"});
  waits.observe({resource.group, resource.resource}, seconds);
  reads.add({resource.group, resource.resource, reached ? "true" : "false", "false"});
}

void listed(const GroupResource& resource, std::size_t fetched, std::size_t returned) {
  static const std::vector<std::string> labels = {"group", "resource", "index"};
  static Metric& lists = Metric::counter("apiserver_cache_list_total", "Lists answered from a cache, by resource.", labels);
  static Metric& read = Metric::counter("apiserver_cache_list_fetched_objects_total", "Objects that lists looked at in a cache.", labels);
  static Metric& answered =
      Metric::counter("apiserver_cache_list_returned_objects_total", "Objects that lists from a cache answered with.", by_resource());
  lists.add({resource.group, resource.resource, ""});
  read.add({resource.group, resource.resource, ""}, static_cast<double>(fetched));
  add(answered, resource, returned);
}

void list_of_store(const GroupResource& resource) {
  static Metric& metric = Metric::counter("apiserver_storage_list_total", "Lists answered from the store, by resource.", by_resource());
  add(metric, resource, 1);
}

void read_from_store(const GroupResource& resource, std::size_t fetched, std::size_t returned) {
  static Metric& read =
      Metric::counter("apiserver_storage_list_fetched_objects_total", "Objects read from the store for lists.", by_resource());
  static Metric& looked_at = Metric::counter("apiserver_storage_list_evaluated_objects_total",
                                             "Objects of the store that lists looked at, by resource.", by_resource());
  static Metric& answered = Metric::counter("apiserver_storage_list_returned_objects_total",
                                            "Objects of the store that lists answered with, by resource.", by_resource());
  add(read, resource, fetched);
  add(looked_at, resource, fetched);
  add(answered, resource, returned);
}

void decode_error(const GroupResource& resource) {
  static Metric& metric =
      Metric::counter("apiserver_storage_decode_errors_total", "Stored objects that could not be read, by resource.", by_resource());
  add(metric, resource, 1);
}

}  // namespace backplane::cache_metrics
