#include "admission/admission_chain.hpp"

#include <gtest/gtest.h>

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
  void add(const std::string& name, bool creates, bool refuses = false) {
    chain.add(std::make_shared<Recorder>(name, log, creates, refuses));
  }

  IoLoop loop_;
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

}  // namespace
}  // namespace backplane
