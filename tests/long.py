"""The long tests: `make quick` leaves them out, and all other runs begin with them.

`python -m pytest --durations=60` says what belongs here: what takes a second or more, or
starts programs, browsers or PostgreSQL again and again.
"""

from __future__ import annotations

APART = (
    "tests/study/test_crowd.py",
    "tests/study/test_changing.py::test_random_changes",
    "tests/driver/test_run.py::test_goes_on_after_it_was_ended",
    "tests/study/test_slow_commands.py",
    "tests/study/test_waiting_rewards.py",
    "tests/study/test_view.py::test_why_an_arm_comes_next",
    "tests/study/test_numbers.py::test_asking_and_telling_on_the_command_line",
    "tests/study/storage/test_killed.py",
    "tests/service/test_schema.py",
    "tests/service/test_cut_commits.py",
    "tests/service/test_process.py",
    "tests/service/security/test_access.py::test_a_pool_imports_nothing_from_the_current_folder",
    "tests/analysis/checks/test_check_rates.py",
    "tests/analysis/checks/test_findings.py",
    "tests/analysis/checks/test_permutations.py",
    "tests/analysis/test_thresholds.py",
    "tests/core/population_bet/test_bets.py",
    "tests/attack/test_noise.py",
    "tests/attack/test_studies.py",
    "tests/cli/test_process.py",
    "tests/test_notebooks.py",
    "tests/cli/test_study.py::test_plates_until_decided",
    "tests/client/test_client.py::test_a_tell_beyond_the_server_s_limit",
    "tests/core/joint/test_certificate.py::test_what_is_certified_has_no_cheap_alternative",
    "tests/core/joint/test_certificate.py::test_no_means_of_the_region_contradict_a_verdict",
    "tests/core/rules/test_focus.py::test_the_goal_anytime_guesses_better_and_certifies_later",
    "tests/core/threshold/test_sample.py::test_the_counts_hold_with_their_probability",
    "tests/core/test_outside_rule.py",
    "tests/paper/test_claims.py::test_processes_make_no_difference",
    "tests/estimation/test_chances.py::test_they_are_what_they_say",
    "tests/estimation/test_properties.py",
    "tests/estimation/test_until.py::test_the_certificate_is_the_same_bit_for_bit",
    "tests/estimation/test_until.py::test_three_ends_three_reasons",
    "tests/estimation/test_until.py::test_many_noisy_arms_promise_nothing_by_luck",
    "tests/report/test_page.py::test_any_number_of_arms_can_be_drawn",
    "tests/simulation/test_simulate.py::test_one_process_or_two",
    "tests/simulation/test_reference.py",
    "tests/study/test_interrupted.py",
    "tests/study/events/test_same_decisions.py",
    "tests/study/events/test_walks.py",
    "tests/study/test_until.py",
    "tests/service/test_bounds.py::test_invented_names_leave_nothing_behind",
    "tests/analysis/test_analyse.py::test_it_says_what_a_run_with_these_rewards_says",
    "tests/analysis/test_analyse.py::test_every_method_from_study_to_report_to_analysis",
    "tests/analysis/test_folders.py::test_in_the_order_of_the_files",
    "tests/analysis/test_uniform_sampling.py::test_it_agrees_with_the_simulator",
    "tests/cli/test_commands.py::TestHelp::test_a_study_in_a_file_imports_what_it_uses",
    "tests/cli/test_commands.py::TestSimulate::test_tables_fit_80_columns",
    "tests/cli/test_dialect.py::test_json_is_one_object",
    "tests/core/compile/test_kernels.py::test_another_installation_shares_the_cache",
    "tests/core/compile/test_kernels.py::test_kept_kernels_run_where_nothing_is_compiled",
    "tests/core/compile/test_kernels.py::test_an_untested_numba_gives_the_same_results_and_one_line_of_warning",
    "tests/core/test_prior.py::test_arms_that_cannot_be_decided",
    "tests/core/rules/test_joint.py::test_it_is_not_worse_than_focus",
    "tests/test_site.py::test_commands_on_the_pages_exist_with_their_options",
    "tests/torture/",
    "tests/test_examples.py::test_examples_pass_strict_mypy",
    "tests/test_pages.py::test_a_page_says_what_comes_out",
)
"""How their names begin; each of these tests may run beside the others of its file."""

TOGETHER = (
    "tests/attack/test_logic.py",
    "tests/browser/",
    "tests/test_cluster.py",
    "tests/driver/test_executor.py",
    "tests/core/rules/test_focus_guarantee.py",
    "tests/core/test_guarantee.py",
    "tests/core/test_region_rates.py",
    "tests/test_install.py",
    "tests/core/intervals/test_coverage.py",
    "tests/paper/figures/test_figures.py",
)
"""Files whose tests share something costly: a kernel, a browser, a cluster, cached runs, an
environment."""

WAITING = (
    "tests/service/test_outage.py",
    "tests/service/security/test_slow_clients.py::test_a_slow_answer_is_no_slow_client",
)
"""Tests that wait for seconds and compute for none: one after the other, in one process, so that
the others have the cores meanwhile."""


def is_long(name: str) -> bool:
    """Whether the test of this name is."""
    return name.startswith(APART + TOGETHER + WAITING)


def group(name: str) -> str:
    """Tests of one group run in one process: those of a file, unless they may run apart."""
    if name.startswith(WAITING):
        return "waiting"
    return name if name.startswith(APART) else name.partition("::")[0]
