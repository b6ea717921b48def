"""What every transport that speaks HTML draws with: escaping, values written for people, the approval card."""
