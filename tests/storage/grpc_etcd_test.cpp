// Tests the SDK's gRPC client, which uses the host's HTTP client, with another implementation of gRPC: etcd's server.
#include "../support/skip.hpp"
#include "backplane/net/grpc.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/io_loop.hpp"
#include "base/task_group.hpp"
#include "client/remote_client.hpp"
#include "etcd.pb.h"
#include "etcd_process.hpp"

namespace backplane {
namespace {

namespace pb = etcdserverpb;
using grpc::CallOptions;
using grpc::CallStatus;
using grpc::Code;

class GrpcOverEtcd : public testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdProcess::installed()) BACKPLANE_SKIP_WITHOUT("etcd", "this machine has no etcd (package etcd-server)");
    std::string pattern = testing::TempDir() + "grpc-etcd-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    etcd_ = std::make_unique<EtcdProcess>(folder_);
    loop_.start();
    ClientConfig config;
    config.server = etcd_->url();
    config.http2_prior_knowledge = true;
    client_ = *make_remote_client(loop_, tasks_, config);
  }
  void TearDown() override {
    client_.reset();
    tasks_.close();
    if (etcd_) run_on(loop_, tasks_.wait_all());
    loop_.stop();
    etcd_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  template <class Response, class Request>
  Response call(const std::string& method, const Request& request) {
    CallOptions options;
    options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const auto answer = run_on(loop_, grpc::unary(client_, method, request.SerializeAsString(), options));
    status_ = answer.status;
    Response response;
    EXPECT_TRUE(!status_.ok() || response.ParseFromString(answer.message));
    return response;
  }
  void put(const std::string& key, const std::string& value) {
    pb::TxnRequest request;
    auto& put = *request.add_success()->mutable_request_put();
    put.set_key(key);
    put.set_value(value);
    EXPECT_TRUE(call<pb::TxnResponse>("/etcdserverpb.KV/Txn", request).succeeded()) << to_text(status_);
  }

  std::string folder_;
  std::unique_ptr<EtcdProcess> etcd_;
  IoLoop loop_{"grpc"};
  LoggedTaskGroup tasks_;
  std::shared_ptr<HttpClient> client_;
  CallStatus status_;
};

TEST_F(GrpcOverEtcd, UnaryCallsReadAndWrite) {
  EXPECT_NE(call<pb::StatusResponse>("/etcdserverpb.Maintenance/Status", pb::StatusRequest()).version(), "") << to_text(status_);
  const std::string value(1'000'000, 'v');
  put("a", value);
  pb::RangeRequest request;
  request.set_key("a");
  const auto found = call<pb::RangeResponse>("/etcdserverpb.KV/Range", request);
  ASSERT_EQ(found.kvs_size(), 1) << to_text(status_);
  EXPECT_EQ(found.kvs(0).value(), value);
}

TEST_F(GrpcOverEtcd, ErrorsOfTheServerHaveTheirCodeAndText) {
  pb::RangeRequest request;
  request.set_key("a");
  request.set_revision(1'000'000);
  call<pb::RangeResponse>("/etcdserverpb.KV/Range", request);
  EXPECT_EQ(status_.code, Code::kOutOfRange);
  EXPECT_EQ(status_.message, "etcdserver: mvcc: required revision is a future revision");
  call<pb::RangeResponse>("/etcdserverpb.KV/NoSuchMethod", request);
  EXPECT_EQ(status_.code, Code::kUnimplemented) << to_text(status_);
}

Task<std::shared_ptr<grpc::Stream>> watch(std::shared_ptr<HttpClient> client, std::string key) {
  auto stream = grpc::open_stream(std::move(client), "/etcdserverpb.Watch/Watch");
  pb::WatchRequest request;
  request.mutable_create_request()->set_key(std::move(key));
  auto writing = stream->write(request.SerializeAsString());
  const bool written = co_await std::move(writing);
  EXPECT_TRUE(written);
  co_return stream;
}
Task<std::optional<std::string>> next(std::shared_ptr<grpc::Stream> stream) {
  auto reading = stream->read();
  auto message = co_await std::move(reading);
  co_return message;
}

TEST_F(GrpcOverEtcd, AStreamCarriesAWatchUntilTheServerEnds) {
  const auto stream = run_on(loop_, watch(client_, "a"));
  pb::WatchResponse response;
  ASSERT_TRUE(response.ParseFromString(run_on(loop_, next(stream)).value_or("")));
  EXPECT_TRUE(response.created());
  for (const char* value : {"one", "two"}) {
    put("a", value);
    ASSERT_TRUE(response.ParseFromString(run_on(loop_, next(stream)).value_or("")));
    ASSERT_EQ(response.events_size(), 1);
    EXPECT_EQ(response.events(0).kv().value(), value);
  }
  etcd_->kill();
  EXPECT_EQ(run_on(loop_, next(stream)), std::nullopt);
  EXPECT_EQ(stream->status().code, Code::kUnavailable) << to_text(stream->status());
  EXPECT_FALSE(stream->status().never_sent);
}

}  // namespace
}  // namespace backplane
