// The metrics of the caches, with kube-apiserver's names.
//
// Thread-safety: any thread.
#pragma once

#include <cstddef>

#include "backplane/core/meta.hpp"

namespace backplane::cache_metrics {

// Counts a load of a cache from its store; `objects`: the number of loaded objects.
void loaded(const GroupResource& resource, std::size_t objects);
// Counts events that have arrived from the store, and events that have been sent to watchers.
void received(const GroupResource& resource, std::size_t events);
void dispatched(const GroupResource& resource, std::size_t events);
// Counts the initial objects of a watch.
void initial_events(const GroupResource& resource, std::size_t events);
// Observes the time for which a read has waited until the cache was fresh. `reached`: false if the wait has timed out.
void waited(const GroupResource& resource, double seconds, bool reached);
// Counts a list that was read from the cache; `fetched` objects were examined.
void listed(const GroupResource& resource, std::size_t fetched, std::size_t returned);
// Counts a list that is read from the store: list_of_store() once, when the list begins; read_from_store() for each part that is read.
void list_of_store(const GroupResource& resource);
void read_from_store(const GroupResource& resource, std::size_t fetched, std::size_t returned);
// Counts a stored value that cannot be decoded.
void decode_error(const GroupResource& resource);

}  // namespace backplane::cache_metrics
