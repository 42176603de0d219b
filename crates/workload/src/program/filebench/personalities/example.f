set $dir=/data
define file name=database,path=$dir,size=1g,prealloc
define process name=readers
{
  thread name=reader,instances=8
  {
    flowop read name=get,filename=database,iosize=4k,random
    flowop hog name=think,value=100000
  }
}
run 60
