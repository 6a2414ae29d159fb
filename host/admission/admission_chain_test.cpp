#include "admission/admission_chain.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "backplane/rest/store_hooks.hpp"
#include "base/io_loop.hpp"

namespace backplane {
namespace {

class Recorder final : public AdmissionPlugin {
 public:
  Recorder(std::string name, std::vector<std::string>& log, bool creates, bool refuses = false)
      : name_(std::move(name)), log_(log), creates_(creates), refuses_(refuses) {}
  std::string_view name() const noexcept override { return name_; }
  bool handles(AdmissionOperation operation) const noexcept override { return creates_ == (operation == AdmissionOperation::kCreate); }
  Task<Status> admit(AdmissionAttributes&) const override {
    log_.push_back(name_ + " admit");
    if (refuses_) co_return forbidden("", "things", "a", name_);
    co_return Status();
  }
  Task<Status> validate(const AdmissionAttributes&) const override {
    log_.push_back(name_ + " validate");
    co_return Status();
  }

 private:
  std::string name_;
  std::vector<std::string>& log_;
  bool creates_;
  bool refuses_;
};

class AdmissionChainTest : public ::testing::Test {
 protected:
  AdmissionChainTest() : loop_("test") { loop_.start(); }
  ~AdmissionChainTest() override { loop_.stop(); }
  void add(const std::string& name, bool creates, bool refuses = false) { add(std::make_shared<Recorder>(name, log, creates, refuses)); }

  void add(std::shared_ptr<const AdmissionPlugin> plugin) {
    plugins.push_back(std::move(plugin));
    chain.publish(plugins);
  }

  IoLoop loop_;
  AdmissionChain::Plugins plugins;
  std::vector<std::string> log;
  AdmissionChain chain;
  AdmissionAttributes attributes;
};

TEST_F(AdmissionChainTest, AsksThePluginsOfAnOperationInTheirOrder) {
  add("a", true);
  add("b", false);
  add("c", true);
  EXPECT_TRUE(run_on(loop_, chain.admit(attributes)).ok());
  EXPECT_TRUE(run_on(loop_, chain.validate(attributes)).ok());
  EXPECT_EQ(log, (std::vector<std::string>{"a admit", "c admit", "a validate", "c validate"}));
  EXPECT_EQ(chain.names(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(AdmissionChainTest, StopsAtTheFirstRefusal) {
  add("a", true, true);
  add("b", true);
  EXPECT_EQ(run_on(loop_, chain.admit(attributes)).code(), 403);
  EXPECT_EQ(log, (std::vector<std::string>{"a admit"}));
}

TEST_F(AdmissionChainTest, ARequestKeepsThePluginsOfItsRoute) {
  add("a", true);
  RequestContext context;
  context.admission = chain.newest();
  attributes.context = &context;
  chain.publish({std::make_shared<Recorder>("b", log, true, false)});
  EXPECT_TRUE(run_on(loop_, chain.admit(attributes)).ok());
  EXPECT_TRUE(run_on(loop_, chain.validate(attributes)).ok());
  context.admission = nullptr;
  EXPECT_TRUE(run_on(loop_, chain.admit(attributes)).ok());
  EXPECT_EQ(log, (std::vector<std::string>{"a admit", "a validate", "b admit"}));
}

// Changes the object in each pass, and requests another pass.
class Mutator final : public AdmissionPlugin {
 public:
  explicit Mutator(std::vector<std::string>& log) : log_(log) {}
  std::string_view name() const noexcept override { return "mutator"; }
  bool handles(AdmissionOperation) const noexcept override { return true; }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    AdmissionReinvocation& reinvocation = *attributes.reinvocation;
    auto& kept = reinvocation.state_of("mutator");
    log_.push_back(std::string("mutator") + (reinvocation.again() ? " again" : "") + (kept ? " remembers" : ""));
    kept = std::make_shared<int>(1);
    reinvocation.request();
    co_return Status();
  }

 private:
  std::vector<std::string>& log_;
};
class Once final : public AdmissionPlugin {
 public:
  explicit Once(std::vector<std::string>& log) : log_(log) {}
  std::string_view name() const noexcept override { return "once"; }
  bool handles(AdmissionOperation) const noexcept override { return true; }
  bool reinvoked() const noexcept override { return false; }
  Task<Status> admit(AdmissionAttributes&) const override {
    log_.push_back("once");
    co_return Status();
  }

 private:
  std::vector<std::string>& log_;
};

TEST_F(AdmissionChainTest, ARequestedSecondPassRunsThePluginsThatReinvoke) {
  add("a", true);
  add(std::make_shared<Once>(log));
  add(std::make_shared<Mutator>(log));
  EXPECT_TRUE(run_on(loop_, chain.admit(attributes)).ok());
  EXPECT_EQ(log, (std::vector<std::string>{"a admit", "once", "mutator", "a admit", "mutator again remembers"}));
  EXPECT_EQ(attributes.reinvocation, nullptr);
}

class Waiting final : public AdmissionPlugin {
 public:
  explicit Waiting(int ready_checks) : ready_checks_(ready_checks) {}
  std::string_view name() const noexcept override { return "waiting"; }
  bool handles(AdmissionOperation) const noexcept override { return true; }
  bool ready() const noexcept override { return ready_checks_-- <= 0; }

 private:
  mutable std::atomic<int> ready_checks_;
};

// Publishes another chain during a step.
class Replacer final : public AdmissionPlugin {
 public:
  Replacer(AdmissionChain& chain, AdmissionChain::Plugins next) : chain_(chain), next_(std::move(next)) {}
  std::string_view name() const noexcept override { return "replacer"; }
  bool handles(AdmissionOperation) const noexcept override { return true; }
  Task<Status> admit(AdmissionAttributes&) const override {
    chain_.publish(next_);
    co_return Status();
  }

 private:
  AdmissionChain& chain_;
  const AdmissionChain::Plugins next_;
};

TEST_F(AdmissionChainTest, AStepEndsWithThePluginsThatItBeganWith) {
  add(std::make_shared<Replacer>(chain, AdmissionChain::Plugins{std::make_shared<Recorder>("new", log, true, false)}));
  add("old", true);
  const std::weak_ptr<const AdmissionPlugin> old = plugins.back();
  plugins.clear();
  EXPECT_TRUE(run_on(loop_, chain.admit(attributes)).ok());
  EXPECT_EQ(log, std::vector<std::string>{"old admit"});
  EXPECT_TRUE(old.expired()) << "the former chain ends with its last step";
  EXPECT_TRUE(run_on(loop_, chain.admit(attributes)).ok());
  EXPECT_EQ(log.back(), "new admit");
}

// Ends on another executor, and throws there if `throws` is true.
class ExecutorSwitchingPlugin final : public AdmissionPlugin {
 public:
  ExecutorSwitchingPlugin(Executor& other, bool throws) : other_(other), throws_(throws) {}
  std::string_view name() const noexcept override { return "Wanderer"; }
  bool handles(AdmissionOperation) const noexcept override { return true; }
  bool begins(AdmissionOperation) const noexcept override { return true; }
  Task<Status> admit(AdmissionAttributes&) const override { return switch_executor(); }
  Task<Status> validate(const AdmissionAttributes&) const override { return switch_executor(); }
  Task<Result<std::unique_ptr<BegunWrite>>> begin(const AdmissionAttributes&) const override {
    (void)co_await switch_executor();
    co_return std::make_unique<Write>(*this);
  }

 private:
  class Write final : public BegunWrite {
   public:
    explicit Write(const ExecutorSwitchingPlugin& plugin) : plugin_(plugin) {}
    Task<Result<bool>> join(RequestContext&, StoreTransaction&) override { co_return true; }
    Task<void> finish(bool) override { (void)co_await plugin_.switch_executor(); }

   private:
    const ExecutorSwitchingPlugin& plugin_;
  };
  Task<Status> switch_executor() const {
    co_await resume_on(other_);
    if (throws_) throw std::runtime_error("lost");
    co_return Status();
  }

  Executor& other_;
  const bool throws_;
};

struct StepResult {
  Status status;
  Executor* executor = nullptr;  // the executor on which the step has ended
};
Task<StepResult> run_steps(AdmissionChain& chain, AdmissionAttributes& attributes) {
  StepResult out;
  out.status = co_await chain.admit(attributes);
  out.executor = current_executor();
  if (out.status.ok()) out.status = co_await chain.validate(attributes);
  if (current_executor() != out.executor) out.executor = nullptr;
  auto begun = co_await chain.begin(attributes);
  if (current_executor() != out.executor) out.executor = nullptr;
  if (!begun.ok()) co_return out;
  for (const auto& write : *begun) co_await write->finish(true);
  if (current_executor() != out.executor) out.executor = nullptr;
  co_return out;
}

TEST_F(AdmissionChainTest, AStepEndsOnTheExecutorOnWhichItBegan) {
  IoLoop other("other");
  other.start();
  add(std::make_shared<ExecutorSwitchingPlugin>(other, false));
  const StepResult result = run_on(loop_, run_steps(chain, attributes));
  EXPECT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_EQ(result.executor, &loop_);
  other.stop();
}

TEST_F(AdmissionChainTest, APluginThatThrowsOnAnotherExecutorRefusesTheWriteOnItsOwn) {
  IoLoop other("other");
  other.start();
  add(std::make_shared<ExecutorSwitchingPlugin>(other, true));
  const StepResult result = run_on(loop_, run_steps(chain, attributes));
  EXPECT_EQ(result.status.reason(), Reason::kInternalError);
  EXPECT_NE(result.status.message().find("admission plugin Wanderer threw: lost"), std::string::npos) << result.status.message();
  EXPECT_EQ(result.executor, &loop_);
  EXPECT_EQ(run_on(loop_, chain.begin(attributes)).status().reason(), Reason::kInternalError);
  other.stop();
}

TEST_F(AdmissionChainTest, AWriteWaitsForAPluginThatIsNotReady) {
  add(std::make_shared<Waiting>(3));
  EXPECT_TRUE(run_on(loop_, chain.admit(attributes)).ok());
}

TEST_F(AdmissionChainTest, APluginThatDoesNotGetReadyRefusesTheWrite) {
  AdmissionChain impatient{std::chrono::milliseconds(1)};
  impatient.publish({std::make_shared<Waiting>(1000)});
  attributes.resource = {"apps", "v1", "deployments"};
  attributes.name = "web";
  const Status refused = run_on(loop_, impatient.admit(attributes));
  EXPECT_EQ(refused.code(), 403);
  EXPECT_EQ(refused.message(), "deployments.apps \"web\" is forbidden: not yet ready to handle request");
  EXPECT_EQ(run_on(loop_, impatient.validate(attributes)).code(), 403);
}

TEST_F(AdmissionChainTest, WarningsAndAnnotationsGoToTheRequest) {
  RequestContext context;
  AdmissionAttributes own = admission_attributes(context, AdmissionOperation::kCreate, {"", "v1", "pods"}, {"", "v1", "Pod"});
  own.warn("careful");
  EXPECT_EQ(context.warnings(), std::vector<std::string>{"careful"});
  EXPECT_TRUE(own.annotate("example.com/why", "because").ok());
  EXPECT_TRUE(own.annotate("example.com/why", "because").ok());
  EXPECT_FALSE(own.annotate("example.com/why", "not").ok());
  EXPECT_FALSE(own.annotate("why", "because").ok());
  EXPECT_EQ(context.audit_annotations().at("example.com/why"), "because");
}

TEST(AdmissionOptionsObject, IsWhatUpstreamShowsToWebhooks) {
  AdmissionAttributes attributes;
  EXPECT_TRUE(admission_options(attributes, {}).is_null());
  WriteOptions write;
  write.dry_run = true;
  write.field_manager = "kubectl";
  write.field_validation = FieldValidation::kStrict;
  attributes.options = write;
  EXPECT_EQ(
      to_json(admission_options(attributes, {})),
      R"({"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","dryRun":["All"],"fieldManager":"kubectl","fieldValidation":"Strict"})");
  attributes.operation = AdmissionOperation::kDelete;
  DeleteOptions remove;
  remove.grace_period_seconds = 5;
  remove.preconditions.uid = "u";
  remove.propagation_policy = "Foreground";
  attributes.options = remove;
  EXPECT_EQ(
      to_json(admission_options(attributes, {})),
      R"({"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":5,"preconditions":{"uid":"u"},"propagationPolicy":"Foreground"})");
}

}  // namespace
}  // namespace backplane
