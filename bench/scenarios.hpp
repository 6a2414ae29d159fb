// The driver's scenarios; each prints one line of JSON.
#pragma once

#include <string>

#include "client.hpp"

namespace bench {

struct Settings {
  std::string kubeconfig;
  int pid = 0;  // the server's process, for its CPU and memory; 0: not measured
  int clients = 32;
  int seconds = 5;
  long count = 0;  // operations; 0: as many as `seconds` allow
  int watchers = 1000;
  std::string resource = "pods";
  std::string ns = "bench";
  std::string query;  // the query of run_list(), for example "?limit=500"
  std::string path;   // the path that run_path() reads
};

void run_get(const Endpoint& endpoint, const Settings& settings);
void run_path(const Endpoint& endpoint, const Settings& settings);
void run_create(const Endpoint& endpoint, const Settings& settings);
void run_list(const Endpoint& endpoint, const Settings& settings);
void run_fanout(const Endpoint& endpoint, const Settings& settings);
void run_idle(const Endpoint& endpoint, const Settings& settings);

}  // namespace bench
