#include "plugin/retained_storage.hpp"

#include <gtest/gtest.h>

#include "backplane/core/plugin_unavailable.hpp"
#include "backplane/rest/connect.hpp"
#include "endpoints/request_refuser.hpp"
#include "endpoints/resource_handler.hpp"

namespace backplane {
namespace {

using Verbs = std::vector<std::string>;

KindSnapshot widgets() {
  KindSnapshot kind;
  kind.kind = {"widgets.example.com", "v1", "Widget"};
  kind.resource = "widgets";
  return kind;
}

SubresourceSnapshot subresource(std::string name, GroupVersionKind kind) {
  SubresourceSnapshot out;
  out.name = std::move(name);
  out.kind = std::move(kind);
  return out;
}

std::shared_ptr<RestStorage> retained(const SubresourceSnapshot& own) {
  const auto absence = std::make_shared<const PluginAbsence>(PluginAbsence{"acme.io/widgets", "it is disabled", "enable it"});
  return make_retained_subresource(nullptr, absence, widgets(), own);
}

Verbs verbs_of(const SubresourceSnapshot& own) { return discovery_verbs(*retained(own), true); }

Status refusal_of(const SubresourceSnapshot& own, std::string verb) {
  RequestInfo request;
  request.verb = std::move(verb);
  request.name = "w";
  const auto storage = retained(own);
  return role_of<endpoints::RequestRefuser>(storage)->refusal(request);
}

class Log final : public RestStorage, public StreamGetter {
 public:
  GroupVersionKind kind() const override { return widgets().kind; }
  const Schema* schema() const override { return nullptr; }
  std::vector<std::string> media_types() const override { return {}; }
  std::vector<ConnectParameter> parameters() const override { return {}; }
  Task<Status> get_stream(RequestContext&, std::string, Exchange&) override { co_return Status(); }
};

TEST(RetainedSubresource, HasTheRecordedVerbsWhateverItsKindIs) {
  SubresourceSnapshot scale = subresource("scale", {"autoscaling", "v1", "Scale"});
  scale.reads = scale.updates = true;
  EXPECT_EQ(verbs_of(scale), (Verbs{"get", "patch", "update"}));
  SubresourceSnapshot seal = subresource("seal", {"widgets.example.com", "v1", "Seal"});
  seal.updates = true;
  EXPECT_EQ(verbs_of(seal), (Verbs{"update"}));
  SubresourceSnapshot all = scale;
  all.creates = true;
  all.methods = {"DELETE"};
  EXPECT_EQ(verbs_of(all), (Verbs{"create", "delete", "get", "patch", "update"}));
}

TEST(RetainedSubresource, WithoutARecordedRoleHasTheVerbGet) { EXPECT_EQ(verbs_of(subresource("log", widgets().kind)), (Verbs{"get"})); }

TEST(RetainedSubresource, RefusesAllButAGetOfTheKindOfTheResource) {
  SubresourceSnapshot scale = subresource("scale", {"autoscaling", "v1", "Scale"});
  scale.reads = scale.updates = true;
  for (const char* verb : {"get", "update", "patch", "create", "delete"}) {
    const Status status = refusal_of(scale, verb);
    EXPECT_EQ(status.reason(), kPluginUnavailable) << verb;
    EXPECT_NE(status.message().find("widgets.widgets.example.com can be read and deleted only: "), std::string::npos) << status.message();
  }
  SubresourceSnapshot status = subresource("status", widgets().kind);
  status.reads = status.updates = true;
  EXPECT_TRUE(refusal_of(status, "get").ok());
  EXPECT_EQ(refusal_of(status, "patch").reason(), kPluginUnavailable);
  EXPECT_EQ(refusal_of(subresource("log", widgets().kind), "get").reason(), kPluginUnavailable);
}

TEST(SubresourceSnapshot, RecordsAStreamAsAMethod) {
  const SubresourceSnapshot log = subresource_snapshot("log", std::make_shared<Log>());
  EXPECT_FALSE(log.reads);
  EXPECT_EQ(log.methods, (Verbs{"GET"}));
  EXPECT_EQ(verbs_of(log), (Verbs{"get"}));
}

}  // namespace
}  // namespace backplane
