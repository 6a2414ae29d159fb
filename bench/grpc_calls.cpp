// Makes the calls that the etcd store makes, to an etcd without TLS, to be counted by callgrind.  One loop with one connection makes
// AT_A_TIME calls concurrently.
//
//   valgrind --tool=callgrind build/bin/backplane-bench-grpc URL range|txn|watch CALLS [AT_A_TIME [BYTES]]
//
// The difference between two runs with different CALLS is the number of instructions of the additional calls.  "watch" is "txn" with a
// watch that receives each write.
#include <cstdlib>
#include <iostream>

#include "backplane/net/grpc.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"
#include "calls.hpp"
#include "client/remote_client.hpp"
#include "etcd.pb.h"

namespace backplane {
namespace {

namespace pb = etcdserverpb;

struct Bench {
  etcd::Cluster* cluster = nullptr;
  std::string what;
  int calls = 0, at_a_time = 16, left = 0;
  std::string value;
  int failed = 0, events = 0;
};

Task<void> one(Bench& bench) {
  bool failed = false;
  if (bench.what == "range") {
    pb::RangeRequest request;
    request.set_key("/bench/key");
    auto calling = bench.cluster->call<etcd::RangeCall>(std::move(request), /*reads=*/true);
    const auto answer = co_await std::move(calling);
    failed = !answer.ok() || answer->kvs_size() != 1;
  } else {
    pb::TxnRequest request;
    auto& put = *request.add_success()->mutable_request_put();
    put.set_key("/bench/key");
    put.set_value(bench.value);
    auto calling = bench.cluster->call<etcd::TxnCall>(std::move(request), /*reads=*/false);
    const auto answer = co_await std::move(calling);
    failed = !answer.ok() || !answer->succeeded();
  }
  bench.failed += failed ? 1 : 0;
}

Task<void> worker(Bench& bench, Promise<bool> done, int& running) {
  while (bench.left-- > 0) {
    auto calling = one(bench);
    co_await std::move(calling);
  }
  if (--running == 0) done.set(true);
}

Task<void> follow(Bench& bench, Promise<bool> begun, Promise<bool> all_seen) {
  grpc::CallOptions options;
  options.metadata.emplace_back("hasleader", "true");
  const auto stream = grpc::open_stream(bench.cluster->server().client, "/etcdserverpb.Watch/Watch", std::move(options));
  pb::WatchRequest request;
  request.mutable_create_request()->set_key("/bench/key");
  auto writing = stream->write(request.SerializeAsString());
  co_await std::move(writing);
  pb::WatchResponse response;
  while (bench.events < bench.calls) {
    auto reading = stream->read();
    const auto message = co_await std::move(reading);
    if (!message || !response.ParseFromString(*message)) break;
    if (response.created()) begun.set(true);
    bench.events += response.events_size();
  }
  all_seen.set(true);
}

Task<int> run(Bench& bench) {
  const std::string what = std::exchange(bench.what, "txn");
  auto first = one(bench);
  co_await std::move(first);
  bench.what = what;
  Promise<bool> begun, seen, done;
  if (what == "watch") {
    spawn_detached(*current_executor(), follow(bench, begun, seen));
    const bool there = co_await begun.future();
    static_cast<void>(there);
  }
  bench.left = bench.calls;
  int running = bench.at_a_time;
  for (int i = 0; i < bench.at_a_time; ++i) spawn_detached(*current_executor(), worker(bench, done, running));
  const bool all = co_await done.future();
  static_cast<void>(all);
  if (what == "watch") {
    const bool whole = co_await seen.future();
    static_cast<void>(whole);
  }
  co_return bench.failed;
}

}  // namespace
}  // namespace backplane

int main(int argc, char** argv) {
  using namespace backplane;
  if (argc < 4) return 2;
  IoLoop loop("bench");
  loop.start();
  LoggedTaskGroup tasks;
  Bench bench;
  etcd::Settings settings;
  settings.endpoints.push_back(etcd::parse_endpoint(argv[1]).value());
  const auto make_client = [&](ClientConfig config) { return make_remote_client(loop, tasks, std::move(config)); };
  auto cluster = std::make_unique<etcd::Cluster>(etcd::make_servers(settings, {make_client, &loop}).value());
  bench.cluster = cluster.get();
  bench.what = argv[2];
  bench.calls = std::atoi(argv[3]);
  if (argc > 4) bench.at_a_time = std::atoi(argv[4]);
  bench.value.assign(argc > 5 ? static_cast<std::size_t>(std::atoi(argv[5])) : 3'100, 'v');
  const int failed = run_on(loop, run(bench));
  run_on(loop, cluster->stop());
  cluster.reset();
  tasks.close();
  run_on(loop, tasks.wait_all());
  loop.stop();
  std::cout << "calls=" << bench.calls << " failed=" << failed << " events=" << bench.events << "\n";
  return failed == 0 ? 0 : 1;
}
