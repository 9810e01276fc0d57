"""Authentication, permissions and limits, which every request passes first."""
