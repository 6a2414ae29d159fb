set(sources rows.cpp rule.cpp label_match.cpp circuit_breaker.cpp circuit_report.cpp own_service.cpp
  match_conditions.cpp review_request.cpp review_answer.cpp review_decoding.cpp webhook_metrics.cpp webhook_configuration.cpp hook_client.cpp
  hook.cpp hook_source.cpp hook_match.cpp hook_selection.cpp hook_call.cpp hook_patch.cpp patch_problem.cpp versioned_write.cpp
  webhook_plugin.cpp mutating_webhooks.cpp validating_webhooks.cpp)
set(tests rule_test.cpp review_test.cpp configuration_test.cpp hook_match_test.cpp hook_call_test.cpp validating_webhooks_test.cpp)
