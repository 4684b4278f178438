"""What a process gives up before it imports anything of a submission: files, network, system calls."""
