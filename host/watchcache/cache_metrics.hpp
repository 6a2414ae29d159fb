// What the caches count, by kube-apiserver's names.
//
// Thread-safety: any thread.
#pragma once

#include <cstddef>

#include "backplane/core/meta.hpp"

namespace backplane::cache_metrics {

// A cache has been read from its store: once more, with so many objects.
void loaded(const GroupResource& resource, std::size_t objects);
// Events have come from the store, and have been handed on to watchers.
void received(const GroupResource& resource, std::size_t events);
void dispatched(const GroupResource& resource, std::size_t events);
// Objects that a watch began with.
void initial_events(const GroupResource& resource, std::size_t events);
// A read has waited for the cache to be fresh.
void waited(const GroupResource& resource, double seconds, bool reached);
// A list was answered from the cache; `fetched` objects were examined.
void listed(const GroupResource& resource, std::size_t fetched, std::size_t returned);
// A list was answered from the store: begun, and some more of it.
void list_of_store(const GroupResource& resource);
void read_from_store(const GroupResource& resource, std::size_t fetched, std::size_t returned);
// What is stored cannot be decoded.
void decode_error(const GroupResource& resource);

}  // namespace backplane::cache_metrics
