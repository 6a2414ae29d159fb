// The main header for plugins that watch objects and act on changes.
//
//   ApiClient                                Kubernetes' verbs over a client of the host: get, list, create, patch, delete …
//   SharedInformerFactory, SharedInformer    the objects of a resource in memory, with indexes and event handlers
//   WorkQueue, spawn_workers                 keys to process, each at most once at a time, with retries
//   Sleeper, Signal                          pauses that end when the server stops
//
// This header only includes other headers, which contain the contracts.
#pragma once

#include "backplane/core/json_access.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/work_queue.hpp"
#include "backplane/net/client.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/hooks.hpp"
