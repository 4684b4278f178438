# Windows: kernels run on Linux, and Windows has one in WSL 2. This file says so, and how; it changes nothing.
Write-Host "The course needs Linux, which Windows has in WSL 2: type 'wsl --install -d Ubuntu' in a PowerShell that was started as administrator, restart, open Ubuntu from the Start menu, clone the course into your home folder there, and type ./course doctor (docs/start.md, Windows, screen by screen)."
exit 2
